// What can move the character: a model by one of the controllers that it holds.
import type { SceneInfo } from "./protocol";

export type Mover = { model: string; controller: string };

/** Every model with every controller that it holds. */
function movers(info: Pick<SceneInfo, "models" | "controllers">): Mover[] {
  return info.models.flatMap((model, index) =>
    (info.controllers[index] ?? []).map((controller) => ({ model, controller })),
  );
}

/** What else can move the scene: first the other models by the same controller, then the rest. */
export function othersThan(current: Mover, info: Pick<SceneInfo, "models" | "controllers">): Mover[] {
  const others = movers(info).filter(
    ({ model, controller }) => model !== current.model || controller !== current.controller,
  );
  const isAlike = (mover: Mover): number => (mover.controller === current.controller ? 0 : 1);
  return others.sort((a, b) => isAlike(a) - isAlike(b));
}

/** Names what tells it from the others: the model where there are several, the controller where a model holds several. */
export function moverLabel(mover: Mover, info: Pick<SceneInfo, "models" | "controllers">): string {
  const isOneModel = info.models.length < 2;
  const isOneController = info.controllers.every((names) => names.length < 2);
  if (isOneController) return mover.model;
  return isOneModel ? mover.controller : `${mover.model}, ${mover.controller}`;
}
