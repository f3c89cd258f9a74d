// Raises and lowers the ground under the pointer while the brush is on.
import { CircleGeometry, DoubleSide, Group, Mesh, MeshBasicMaterial, RingGeometry, Vector3 } from "three";
import { all, element } from "../ui";
import { meetsGround } from "../view/grid";
import type { WorldView } from "../view/world_view";

/** Bumps per second while the button is held, and how high each is, metres. */
const PER_SECOND = 8;
const HEIGHT_M = 0.03;
/** The ground is met this near, or not at all, metres. */
const REACH_M = 40;

/** Colours of the ring. */
const RAISE = 0x009e73;
const LOWER = 0xcc5511;

export type Way = "raise" | "lower";

export class Brush {
  way: Way | undefined;
  private held = false;
  private at: [number, number] | undefined;
  private sentAt = 0;
  private readonly ring = new Group();
  private readonly material = new MeshBasicMaterial({
    transparent: true,
    opacity: 0.7,
    side: DoubleSide,
    depthTest: false,
  });

  constructor(
    private readonly view: WorldView,
    private readonly press: (x: number, z: number, radius: number, height: number) => void,
  ) {
    const edge = new Mesh(new RingGeometry(0.96, 1, 64).rotateX(-Math.PI / 2), this.material);
    const middle = new Mesh(new CircleGeometry(0.04, 20).rotateX(-Math.PI / 2), this.material);
    edge.renderOrder = middle.renderOrder = 4;
    this.ring.add(edge, middle);
    this.ring.visible = false;
    view.stage.scene.add(this.ring);
    const size = element<HTMLInputElement>("brush-size");
    const label = (): void => {
      document.querySelector(`output[for="brush-size"]`)!.textContent = `${this.radius.toFixed(1)} m`;
    };
    size.oninput = label;
    label();
    for (const button of all("[data-brush]")) {
      button.onclick = () => this.choose(this.way === button.dataset.brush ? undefined : (button.dataset.brush as Way));
    }
    addEventListener("keydown", (event) => {
      if (event.code === "Escape") this.choose(undefined);
    });
  }

  private get radius(): number {
    return Number(element<HTMLInputElement>("brush-size").value);
  }

  choose(way: Way | undefined): void {
    this.way = way;
    this.held = false;
    this.material.color.set(way === "lower" ? LOWER : RAISE);
    for (const button of all("[data-brush]")) button.setAttribute("aria-pressed", String(button.dataset.brush === way));
    document.body.classList.toggle("brushing", way !== undefined);
    this.ring.visible = false;
  }

  /** Whether the brush takes the pointer. */
  down(x: number, y: number): boolean {
    if (!this.way) return false;
    this.held = true;
    this.at = [x, y];
    this.sentAt = 0;
    return true;
  }

  move(x: number, y: number): void {
    this.at = [x, y];
  }

  up(): void {
    this.held = false;
  }

  /** Once per picture: shows where the brush is, and presses while it is held. */
  draw(): void {
    if (!this.way || !this.at) return;
    const place = this.ground(...this.at);
    this.ring.visible = place !== undefined;
    if (!place) return;
    this.ring.position.copy(place).y += 0.03;
    this.ring.scale.setScalar(this.radius);
    const now = performance.now();
    if (!this.held || now - this.sentAt < 1000 / PER_SECOND) return;
    this.sentAt = now;
    this.press(place.x, place.z, this.radius, this.way === "raise" ? HEIGHT_M : -HEIGHT_M);
  }

  /** Where the pointer meets the ground. */
  private ground(x: number, y: number): Vector3 | undefined {
    const { ray } = this.view.stage.ray(x, y);
    const distance = meetsGround(ray.origin, ray.direction, REACH_M, (px, pz) => this.view.ground.height(px, pz));
    return distance === undefined ? undefined : ray.at(distance, new Vector3());
  }
}
