import type { CssPx } from "./units";

// Where keys write text, or move a value.
const TYPING = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
// While somebody types, only a pause and then this way over the viewer show that the mouse was not just nudged.
const PAUSE_MS = 1000;
const DELIBERATE_PX = 24;
// What writes, moves or deletes. Function keys are the browser's; modifiers do nothing alone.
const TAKEN = /^(.|Arrow\w+|Page\w+|Home|End|Enter|Escape|Insert|Delete|Backspace|Dead)$/su;

/**
 * Gives a widget, here "the viewer", the keyboard while the pointer is on it; the focus stays where it is. Keys are taken at the window, on
 * their way down: JupyterLab and Notebook 7 listen at the document, where "d d" deletes a notebook cell.
 *
 * The pointer must have been used since the last key that went elsewhere: a viewer that scrolls or opens under a resting
 * pointer takes nothing. Nor does a nudge of the mouse take text that is being typed, as in a cell in edit mode: there
 * the pointer must move on over the viewer after a pause, or press or turn the wheel there.
 */
export class HoverKeys {
  private over = false;
  private pointed = false;
  /** How far the pointer moved over the viewer since something was typed elsewhere. */
  private travelled: CssPx = 0;
  private typedAt = -PAUSE_MS;

  constructor(
    private readonly root: HTMLElement,
    private readonly press: (event: KeyboardEvent) => void,
    signal: AbortSignal,
  ) {
    const on = <Heard extends Event>(target: EventTarget, type: string, change: (event: Heard) => void) => {
      const listener = (event: Event) => {
        change(event as Heard);
        root.classList.toggle("tfp-takes-keys", this.takesFrom(document.activeElement));
      };
      target.addEventListener(type, listener, {
        capture: target === window,
        passive: type === "wheel",
        signal,
      });
    };
    on(root, "pointerenter", () => this.cross(true));
    on(root, "pointerleave", () => this.cross(false));
    on(root, "pointerdown", () => this.use());
    // A wheel that only scrolls the page is no use of the viewer.
    on(root, "wheel", (event) => event.defaultPrevented && this.use());
    for (const type of ["wheel", "pointerdown"]) on(window, type, () => this.point());
    on(window, "pointermove", (event: PointerEvent) => this.move(event));
    on(window, "focusin", ({ target }: FocusEvent) => this.follow(target));
    on(window, "keydown", (event: KeyboardEvent) => this.key(event));
  }

  /** Whether keys are taken that would go to `target`. */
  private takesFrom(target: EventTarget | null): boolean {
    const typing = target instanceof Element && target.closest(TYPING) !== null;
    return this.over && this.pointed && (!typing || this.travelled >= DELIBERATE_PX);
  }

  private cross(over: boolean): void {
    this.over = over;
    this.travelled = 0;
  }

  private point(): void {
    this.pointed = true;
  }

  private use(): void {
    this.travelled = DELIBERATE_PX;
  }

  private move({ movementX, movementY, timeStamp }: PointerEvent): void {
    const way = Math.hypot(movementX, movementY);
    // Where the page moves under a resting pointer, that is told as a move by nothing.
    if (way > 0) this.point();
    if (this.over && timeStamp - this.typedAt >= PAUSE_MS) this.travelled += way;
  }

  private follow(focused: EventTarget | null): void {
    if (this.root.contains(focused as Node)) return;
    this.travelled = 0;
    // Another viewer that gets the focus has the keyboard, until the pointer is used again.
    if (focused instanceof Element && focused.closest(".tfp")) this.pointed = false;
  }

  private key(event: KeyboardEvent): void {
    const [target = null] = event.composedPath();
    const command = event.ctrlKey || event.metaKey || event.altKey || event.isComposing;
    if (command || this.root.contains(target as Node)) return;
    const takes = this.takesFrom(target);
    if (event.key === "Tab") {
      // It moves the focus, out of a cell's text too, and the next keys go there.
      if (takes) event.stopImmediatePropagation();
      this.pointed = false;
    } else if (takes && TAKEN.test(event.key)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      this.press(event);
    } else if (TAKEN.test(event.key)) {
      this.pointed = false;
      this.travelled = 0;
      this.typedAt = event.timeStamp;
    }
  }
}
