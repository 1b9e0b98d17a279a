from tfprof_nb.render.browser_widgets import TabsWidget


def test_panes_of_two_strips_are_never_mixed_up():
    one, other = TabsWidget(["Overview", "Steps"]), TabsWidget(["Overview", "Steps"])
    classes = {strip.pane_class(k) for strip in (one, other) for k in (0, 1)}
    assert len(classes) == 4


def test_the_kernel_hears_of_the_open_tab():
    strip = TabsWidget(["Overview", "Steps"])
    opened = []
    strip.observe(lambda change: opened.append(change["new"]), "selected")
    strip.set_state({"selected": 1})
    assert opened == [1]
