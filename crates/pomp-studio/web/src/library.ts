// The list of clips that the program was started with: pictures and facts come one by one, as the server makes them.
import type { CardAnswer, ClipCard, LibraryList, ListedClip } from "./protocol";
import { element } from "./ui";

/** Entries that the list shows at once. */
const SHOWN = 200;
/** How long to wait when the server has its hands full, milliseconds. */
const AGAIN_MS = 1500;
const UNKNOWN = "licence unknown";

export class Library {
  private entries: ListedClip[] = [];
  private more = false;
  private readonly cards = new Map<number, CardAnswer>();
  private readonly items = new Map<number, HTMLElement>();
  private active = false;
  private asking = false;
  private readonly filter = element<HTMLInputElement>("filter");
  private readonly chosen = {
    gait: element<HTMLSelectElement>("filter-gait"),
    ground: element<HTMLSelectElement>("filter-ground"),
    license: element<HTMLSelectElement>("filter-license"),
  };

  constructor(private readonly open: (entry: ListedClip) => void) {
    this.filter.oninput = () => this.list();
    for (const field of Object.values(this.chosen)) field.onchange = () => this.list();
  }

  take({ entries, more }: LibraryList): void {
    this.entries = entries;
    this.more = more;
    this.filter.hidden = entries.length < 8;
    element("filters").hidden = entries.length < 2;
    this.offerChoices();
    this.list();
    void this.ask();
  }

  setActive(active: boolean): void {
    this.active = active;
    void this.ask();
  }

  /** Has the server read clip after clip, those that are listed first; only while somebody looks. */
  private async ask(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    while (this.active && !document.body.classList.contains("alone")) {
      const unknown = (entry: ListedClip): boolean => !this.cards.has(entry.number);
      const next =
        this.entries.find((entry) => unknown(entry) && this.items.has(entry.number)) ?? this.entries.find(unknown);
      if (!next) break;
      try {
        const answer = await fetch(`/library/${next.number}/card`);
        if (answer.status === 503) {
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
          continue;
        }
        // One clip that brings the program to its knees must not end the list.
        this.learn(next, answer.ok ? ((await answer.json()) as CardAnswer) : { error: await answer.text() });
      } catch {
        break; // The lost connection is said elsewhere.
      }
    }
    this.asking = false;
  }

  private learn(entry: ListedClip, card: CardAnswer): void {
    this.cards.set(entry.number, card);
    const before = Object.values(this.chosen)
      .map((field) => field.length)
      .join();
    this.offerChoices();
    const choicesGrew =
      before !==
      Object.values(this.chosen)
        .map((field) => field.length)
        .join();
    const item = this.items.get(entry.number);
    if (this.filtering() || choicesGrew) this.list();
    else if (item) this.fill(item, entry);
    this.tellKnown();
  }

  private filtering(): boolean {
    return Object.values(this.chosen).some((field) => field.value !== "");
  }

  private tellKnown(): void {
    const left = this.entries.length - this.cards.size;
    element("library-known").textContent =
      left > 0 && this.filtering() ? `${left} clips are still to be looked at.` : "";
  }

  /** The choices are what the clips that are known have. */
  private offerChoices(): void {
    const known = [...this.cards.values()].filter((card): card is ClipCard => !("error" in card));
    const choices: [HTMLSelectElement, string, string[]][] = [
      [this.chosen.gait, "gait", known.flatMap((card) => card.gaits)],
      [this.chosen.ground, "ground", known.map((card) => card.ground)],
      [this.chosen.license, "licence", known.map((card) => card.license || UNKNOWN)],
    ];
    for (const [field, any, values] of choices) {
      const kept = field.value;
      field.replaceChildren(
        new Option(any, ""),
        ...[...new Set(values)].sort().map((value) => new Option(value.replace("_", " "), value)),
      );
      field.value = kept;
    }
  }

  private fits(entry: ListedClip, words: string[]): boolean {
    const text = `${entry.folder}/${entry.name}.${entry.kind}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) return false;
    if (!this.filtering()) return true;
    const card = this.cards.get(entry.number);
    if (!card || "error" in card) return false;
    const { gait, ground, license } = this.chosen;
    return (
      (gait.value === "" || card.gaits.includes(gait.value)) &&
      (ground.value === "" || card.ground === ground.value) &&
      (license.value === "" || (card.license || UNKNOWN) === license.value)
    );
  }

  private list(): void {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = this.entries.filter((entry) => this.fits(entry, words));
    this.items.clear();
    const items = fits.slice(0, SHOWN).map((entry) => {
      const item = document.createElement("li");
      this.items.set(entry.number, item);
      this.fill(item, entry);
      return item;
    });
    if (fits.length > SHOWN || this.more) {
      const item = document.createElement("li");
      item.textContent =
        fits.length > SHOWN
          ? `and ${fits.length - SHOWN} more; filter to see them`
          : "The folder holds more clips than are listed.";
      items.push(item);
    }
    if (fits.length === 0 && this.entries.length > 0) {
      const item = document.createElement("li");
      item.textContent = "No clip fits.";
      items.push(item);
    }
    element("library").replaceChildren(...items);
    this.tellKnown();
  }

  private fill(item: HTMLElement, entry: ListedClip): void {
    const card = this.cards.get(entry.number);
    const button = document.createElement("button");
    const text = document.createElement("span");
    const name = document.createElement("b");
    name.textContent = entry.name;
    text.append(name);
    const line = (words: string): void => {
      const small = document.createElement("small");
      small.textContent = words;
      text.append(small);
    };
    if (card && "error" in card) {
      line(card.error);
    } else if (card) {
      const picture = document.createElement("img");
      picture.src = card.picture;
      picture.alt = "";
      button.append(picture);
      line(
        `${card.seconds.toFixed(1)} s · ${card.gaits.join(", ").replaceAll("_", " ") || "no gait"} · ${card.ground} ground`,
      );
      line(card.license || UNKNOWN);
    } else {
      line(`${entry.folder} ${entry.kind}`);
    }
    button.title = `${entry.folder ? `${entry.folder}/` : ""}${entry.name}.${entry.kind}, ${(entry.bytes / 1024).toFixed(0)} KiB${card && !("error" in card) && card.source ? `\n${card.source}` : ""}`;
    button.append(text);
    button.onclick = () => this.open(entry);
    item.replaceChildren(button);
  }
}
