// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { hideStaticForm } from "./reveal";

describe("hideStaticForm", () => {
  beforeEach(() => {
    document.body.innerHTML = "";
    vi.useFakeTimers();
  });

  const alive = () => new AbortController().signal;

  it("hides the whole output in JupyterLab", () => {
    document.body.innerHTML = '<div class="jp-OutputArea-child"><p id="form"></p></div>';
    hideStaticForm("form", alive());
    expect(document.querySelector<HTMLElement>(".jp-OutputArea-child")?.style.display).toBe("none");
  });

  it("hides the element alone elsewhere, even if it comes later", () => {
    hideStaticForm("form", alive());
    vi.advanceTimersByTime(500);
    document.body.innerHTML = '<div><p id="form"></p></div>';
    vi.advanceTimersByTime(500);
    expect(document.getElementById("form")?.style.display).toBe("none");
    expect(document.querySelector("div")?.style.display).toBe("");
  });

  it("gives up after some seconds, or when the widget is gone", () => {
    const gone = new AbortController();
    hideStaticForm("form", alive());
    hideStaticForm("other", gone.signal);
    gone.abort();
    vi.advanceTimersByTime(10_000);
    expect(vi.getTimerCount()).toBe(0);
    document.body.innerHTML = '<p id="form"></p><p id="other"></p>';
    vi.advanceTimersByTime(10_000);
    expect(document.getElementById("form")?.style.display).toBe("");
    expect(document.getElementById("other")?.style.display).toBe("");
  });
});
