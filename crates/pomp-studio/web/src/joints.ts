// Which joint of a motion file is which: the names of the project are dragged onto the file's skeleton.
import type { FileJoint, RigChoice, RigRole } from "./protocol";
import { element, save, sayError } from "./ui";

/** Joints of the file by the project joint that they play; null for one that the file lacks. */
export type Stated = Record<string, string | null>;

/** A file that was sent to the server, with what is stated of its joints. */
export interface Upload {
  file: File;
  stated: Stated;
}

/** Address of an upload's answer of a kind. */
export function uploadAddress(kind: "clip" | "rig", { file, stated }: Upload): string {
  const query = new URLSearchParams({ name: file.name });
  if (Object.keys(stated).length > 0) query.set("joints", JSON.stringify(stated));
  return `/${kind}?${query}`;
}

/** Whether a file has joints that could be mapped otherwise. */
export function hasJoints(file: File): boolean {
  return /\.(bvh|glb|gltf)$/i.test(file.name);
}

/** A name that is dropped farther from a joint is not meant for it, as a share of the body's height. */
const REACH = 0.06;
/** Least confidence that is not pointed out. */
const SURE = 0.6;
const SVG = "http://www.w3.org/2000/svg";

/** The joint nearest to a place, if one is near enough. */
export function nearestJoint(joints: readonly FileJoint[], place: readonly [number, number]): FileJoint | undefined {
  let [nearest, least] = [undefined as FileJoint | undefined, REACH];
  for (const joint of joints) {
    const distance = Math.hypot(joint.place[0] - place[0], joint.place[1] - place[1]);
    if (distance < least) [nearest, least] = [joint, distance];
  }
  return nearest;
}

/** What is stated once `role` is played by `joint`: a joint that played another role leaves it. */
export function restated(stated: Stated, roles: readonly RigRole[], role: string, joint: string | null): Stated {
  const next = { ...stated, [role]: joint };
  for (const other of roles) {
    if (joint !== null && other.name !== role && (next[other.name] ?? other.joint) === joint) next[other.name] = null;
  }
  return next;
}

export class Joints {
  private readonly dialog = element<HTMLDialogElement>("joints");
  private readonly body = element("joints-body") as unknown as SVGSVGElement;
  private upload: Upload | undefined;
  private choice: RigChoice | undefined;

  /** `show` is given the upload as it was corrected. */
  constructor(private readonly show: (upload: Upload) => void) {
    element("joints-show").onclick = () => {
      this.dialog.close();
      if (this.upload) this.show(this.upload);
    };
    element("joints-save").onclick = () => {
      if (this.choice) save("rig.toml", new Blob([this.choice.toml], { type: "text/plain" }));
    };
    this.body.addEventListener("dragover", (event) => {
      event.preventDefault();
      event.stopPropagation();
      this.light(this.under(event)?.name);
    });
    this.body.addEventListener("dragleave", () => this.light(undefined));
    this.body.addEventListener("drop", (event) => {
      event.preventDefault();
      event.stopPropagation();
      this.light(undefined);
      const [role, joint] = [event.dataTransfer?.getData("text/plain"), this.under(event)];
      if (role && joint) this.state(role, joint.name);
    });
  }

  /** Opens with what the server finds of a file's joints. */
  async open(upload: Upload, complain: (error: unknown) => void = sayError): Promise<void> {
    this.upload = upload;
    this.choice = undefined;
    if (await this.ask(complain)) this.dialog.showModal();
  }

  private async ask(complain: (error: unknown) => void = sayError): Promise<boolean> {
    const upload = this.upload!;
    try {
      const answer = await fetch(uploadAddress("rig", upload), { method: "POST", body: upload.file });
      if (!answer.ok) throw new Error(await answer.text());
      this.choice = (await answer.json()) as RigChoice;
    } catch (error) {
      complain(error);
      return false;
    }
    this.draw(this.choice);
    return true;
  }

  private state(role: string, joint: string | null): void {
    if (!this.upload || !this.choice) return;
    const before = this.upload;
    this.upload = { ...before, stated: restated(before.stated, this.choice.roles, role, joint) };
    void this.ask().then((done) => {
      if (!done) this.upload = before;
    });
  }

  private draw(choice: RigChoice): void {
    element("joints-file").textContent = this.upload!.file.name;
    const said = choice.refusal
      ? `Not taken for a human body: ${choice.refusal}. State the joints of both legs.`
      : [`${choice.rig === "inferred" ? "Inferred" : `Rig map ${choice.rig}`}.`, ...choice.warnings].join(" ");
    element("joints-said").textContent = `${said} Drag a name onto a joint, or choose the joint beside it.`;
    element<HTMLButtonElement>("joints-show").disabled = choice.refusal !== "";
    element<HTMLButtonElement>("joints-save").disabled = choice.refusal !== "";
    this.skeleton(choice);
    element("joints-roles").replaceChildren(...choice.roles.map((role) => this.role(role, choice.joints)));
  }

  private skeleton({ joints, roles }: RigChoice): void {
    const made = (kind: string, attributes: Record<string, string | number>): SVGElement => {
      const shape = document.createElementNS(SVG, kind);
      for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, String(value));
      return shape;
    };
    const [xs, ys] = [joints.map((joint) => joint.place[0]), joints.map((joint) => -joint.place[1])];
    const [left, top] = [Math.min(...xs) - 0.1, Math.min(...ys) - 0.1];
    const size = [Math.max(...xs) + 0.1 - left, Math.max(...ys) + 0.1 - top];
    this.body.setAttribute("viewBox", `${left} ${top} ${size[0]} ${size[1]}`);
    const bones = joints.flatMap((joint) => {
      const parent = joint.parent === null ? undefined : joints[joint.parent];
      if (!parent) return [];
      const [[x1, y1], [x2, y2]] = [parent.place, joint.place];
      return [made("line", { x1, y1: -y1, x2, y2: -y2 })];
    });
    const dots = joints.map((joint) => {
      const role = roles.find((candidate) => candidate.joint === joint.name);
      const dot = made("circle", { cx: joint.place[0], cy: -joint.place[1], r: role ? 0.012 : 0.007 });
      dot.classList.toggle("plays", role !== undefined);
      dot.dataset.joint = joint.name;
      const title = made("title", {});
      title.textContent = role ? `${joint.name}: ${role.name}` : joint.name;
      dot.append(title);
      return dot;
    });
    this.body.replaceChildren(...bones, ...dots);
  }

  private role(role: RigRole, joints: readonly FileJoint[]): HTMLElement {
    const row = document.createElement("li");
    const name = document.createElement("b");
    name.textContent = role.name;
    name.draggable = true;
    name.ondragstart = (event) => event.dataTransfer?.setData("text/plain", role.name);
    const choose = document.createElement("select");
    choose.setAttribute("aria-label", role.name);
    choose.append(new Option("none", ""), ...joints.map((joint) => new Option(joint.name, joint.name)));
    choose.value = role.joint ?? "";
    choose.onchange = () => this.state(role.name, choose.value || null);
    const reason = document.createElement("small");
    reason.textContent = role.joint === null ? "filled in" : `${role.confidence.toFixed(2)}, ${role.reason}`;
    row.classList.toggle("unsure", role.joint !== null && role.confidence < SURE);
    row.append(name, choose, reason);
    return row;
  }

  /** The joint under the pointer. */
  private under(event: DragEvent): FileJoint | undefined {
    const toBody = this.body.getScreenCTM()?.inverse();
    if (!toBody || !this.choice) return undefined;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(toBody);
    return nearestJoint(this.choice.joints, [x, -y]);
  }

  private light(joint: string | undefined): void {
    for (const dot of this.body.querySelectorAll("circle")) dot.classList.toggle("over", dot.dataset.joint === joint);
  }
}
