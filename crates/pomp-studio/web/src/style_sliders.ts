// One slider for each style that the character can move in. They act at once.
import type { Connection } from "./connection";
import type { SceneInfo, SceneRequest, WorldState } from "./protocol";
import { element } from "./ui";

export class StyleSliders {
  private readonly rows = element("styles");
  private names: string[] = [];
  private sliders: HTMLInputElement[] = [];

  constructor(private readonly connection: Connection) {}

  setScene(info: SceneInfo): void {
    if (info.styles.join() === this.names.join()) return;
    this.names = info.styles;
    this.sliders = info.styles.map((name, style) => {
      const slider = document.createElement("input");
      Object.assign(slider, { id: `style-${style}`, type: "range", min: "0", max: "1", step: "0.05", value: "0" });
      slider.oninput = () => {
        this.label();
        this.connection.send({ do: "style", style, weight: Number(slider.value) });
      };
      const label = document.createElement("label");
      Object.assign(label, { htmlFor: slider.id, textContent: name.charAt(0).toUpperCase() + name.slice(1) });
      const output = document.createElement("output");
      output.htmlFor.add(slider.id);
      const row = document.createElement("div");
      Object.assign(row, {
        className: "row",
        title: `How much it moves as in the style ${name}; other styles give way`,
      });
      row.append(label, slider, output);
      this.rows.append(row);
      return slider;
    });
    this.rows.replaceChildren(...this.sliders.map((slider) => slider.parentElement!));
    this.label();
  }

  setState(state: WorldState): void {
    for (const [style, slider] of this.sliders.entries()) {
      if (document.activeElement !== slider) slider.value = String(state.style_weights[style] ?? 0);
    }
    this.label();
  }

  /** What a new scene begins in: the styles as they stand. */
  request(): Pick<SceneRequest, "style"> {
    const given = this.sliders.map((slider, style): [string, number] => [this.names[style]!, Number(slider.value)]);
    const style = Object.fromEntries(given.filter(([, weight]) => weight > 0));
    return this.sliders.length > 0 ? { style } : {};
  }

  private label(): void {
    for (const slider of this.sliders) {
      const output = slider.parentElement!.querySelector("output")!;
      output.textContent = `${Math.round(Number(slider.value) * 100)} %`;
    }
  }
}
