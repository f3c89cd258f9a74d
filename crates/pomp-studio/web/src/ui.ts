// Small things of the page: elements by name, notices, files to save.
import type { Notice } from "./protocol";

export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page lacks #${id}`);
  return found as T;
}

export function all<T extends HTMLElement = HTMLElement>(selector: string): T[] {
  return [...document.querySelectorAll<T>(selector)];
}

/** Writes a text into an element; one that is there already is left alone. */
export function tell(id: string, text: string): void {
  const place = element(id);
  if (place.textContent !== text) place.textContent = text;
}

/** Says something on the page. Errors stay until they are closed. */
export function say({ level, text }: Notice): void {
  const list = element("notices");
  for (const old of [...list.children]) {
    if ((old as HTMLElement).dataset.text === text) old.remove();
  }
  while (list.children.length > 3) list.firstElementChild?.remove();
  const notice = document.createElement("div");
  notice.className = `notice ${level}`;
  notice.dataset.text = text;
  notice.textContent = text;
  const close = document.createElement("button");
  close.textContent = "×";
  close.setAttribute("aria-label", "Close");
  close.onclick = () => notice.remove();
  notice.append(close);
  list.append(notice);
  if (level !== "error") setTimeout(() => notice.remove(), level === "info" ? 4000 : 8000);
}

export function sayError(error: unknown): void {
  say({ level: "error", text: error instanceof Error ? error.message : String(error) });
}

/** Offers bytes as a file. */
export function save(name: string, data: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Whether the keyboard belongs to a field just now. */
export function typing(event: KeyboardEvent): boolean {
  const at = event.target;
  if (!(at instanceof HTMLElement)) return false;
  return (
    at.matches("input:not([type=range]):not([type=checkbox]), select, textarea") ||
    document.querySelector("dialog[open]") !== null
  );
}
