// Renderer, lights and the camera that follows.
import {
  Color,
  DirectionalLight,
  Fog,
  HemisphereLight,
  NeutralToneMapping,
  PCFShadowMap,
  PerspectiveCamera,
  Raycaster,
  Scene,
  SRGBColorSpace,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import type { Palette } from "../palette";

/** Nearest and farthest that the camera goes, metres, and how steeply it looks. */
const DISTANCE: [number, number] = [1.4, 14];
const PITCH: [number, number] = [-0.1, 1.4];

export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(42, 1, 0.05, 200);
  readonly renderer: WebGLRenderer;
  /** Direction in which the camera looks on the ground, radians; 0 looks along +Z. */
  yaw = 0.55;
  pitch = 0.28;
  distance = 4.4;
  private readonly sun = new DirectionalLight(0xffffff, 2);
  private readonly sky = new HemisphereLight(0xffffff, 0x8899aa, 1);
  private readonly focus = new Vector3(0, 0.95, 0);
  private readonly background = new Color();
  private placed = false;

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.02;
    const eye = this.sun.shadow.camera;
    [eye.left, eye.right, eye.top, eye.bottom, eye.near, eye.far] = [-2.2, 2.2, 2.4, -2, 0.5, 14];
    this.scene.add(this.sun, this.sun.target, this.sky);
  }

  setColors(palette: Palette): void {
    this.background.copy(palette.horizon);
    this.scene.background = this.background;
    this.scene.fog = new Fog(palette.horizon, 14, 52);
    this.sun.intensity = palette.sun;
    this.sky.intensity = palette.ambient;
    this.sky.groundColor.copy(palette.ground);
    this.sky.color.copy(palette.sky).lerp(new Color(0xffffff), 0.5);
  }

  resize(width: number, height: number): void {
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    // A narrow window sees as much of the character as a wide one.
    this.camera.fov = this.camera.aspect < 1 ? 54 : 42;
    this.camera.updateProjectionMatrix();
  }

  orbit(dx: number, dy: number): void {
    this.yaw -= dx * 0.006;
    this.pitch = Math.min(Math.max(this.pitch + dy * 0.005, PITCH[0]), PITCH[1]);
  }

  zoom(factor: number): void {
    this.distance = Math.min(Math.max(this.distance * factor, DISTANCE[0]), DISTANCE[1]);
  }

  /** Looks at a place at once, without gliding there. */
  jump(): void {
    this.placed = false;
  }

  /** Follows a point; `groundAt` keeps the camera above the hills. */
  follow(point: Vector3, seconds: number, groundAt: (x: number, z: number) => number): void {
    const share = this.placed ? 1 - Math.exp(-seconds * 7) : 1;
    this.placed = true;
    this.focus.lerp(point, share);
    const flat = Math.cos(this.pitch) * this.distance;
    const x = this.focus.x - Math.sin(this.yaw) * flat;
    const z = this.focus.z - Math.cos(this.yaw) * flat;
    const y = Math.max(this.focus.y + Math.sin(this.pitch) * this.distance, groundAt(x, z) + 0.25);
    this.camera.position.set(x, y, z);
    this.camera.lookAt(this.focus);
    this.sun.position.set(this.focus.x + 2.6, this.focus.y + 6, this.focus.z - 2.2);
    this.sun.target.position.copy(this.focus);
  }

  ray(clientX: number, clientY: number): Raycaster {
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = new Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2);
    const ray = new Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray;
  }

  /** Where a point appears, in CSS pixels of the canvas. */
  onScreen(point: Vector3): [number, number] {
    const seen = point.clone().project(this.camera);
    const box = this.renderer.domElement.getBoundingClientRect();
    return [((seen.x + 1) / 2) * box.width, ((1 - seen.y) / 2) * box.height];
  }

  render(): void {
    this.renderer.render(this.scene, this.camera);
  }
}
