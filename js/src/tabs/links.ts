/** What a link opens: a page by its name, and what to show there. */
export interface Target {
  page: string;
  op: string | null;
  range: [number, number] | null;
}

/**
 * Calls `open` when a link inside the element is followed (`data-tfp-page`, see render/html.py). It returns whether it
 * has that page; if not, the strips of tabs further out are asked.
 */
export function followLinks(
  scope: HTMLElement,
  open: (target: Target) => boolean,
  signal: AbortSignal,
): void {
  const follow = (event: Event) => {
    const link = (event.target as Element).closest<HTMLElement>("[data-tfp-page]");
    if (!link || !open(targetOf(link))) return;
    event.stopPropagation();
    event.preventDefault();
  };
  scope.addEventListener("click", follow, { signal });
}

function targetOf(link: HTMLElement): Target {
  const { tfpPage, tfpOp, tfpRange } = link.dataset;
  const [start, end] = tfpRange?.split(",").map(Number) ?? [];
  const range: Target["range"] = start === undefined || end === undefined ? null : [start, end];
  return { page: tfpPage ?? "", op: tfpOp ?? null, range };
}
