"""What a statement of a program is for, by its text."""

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.uses import use_of

CELL = """
for epoch in range(3):
    x, y = store.fetch(8)
    step(x)
    score = metric(y)
    model.fit(
        Photos(paths), validation_data=load()
    )
"""
CODE = Code({"cell": CELL, "other.py": "def step():\n    pass\nprint(step)", "broken.py": "def (:"})


def test_what_a_value_is_for():
    assert use_of(CODE, "cell", 3) == "batch"
    assert use_of(CODE, "cell", 5) == ""  # its value is not read, but metric may change what it is given
    assert use_of(CODE, "cell", 7) == "validation"
    assert use_of(CODE, "other.py", 3) == use_of(CODE, "broken.py", 1) == use_of(CODE, "nowhere", 1) == ""


LOOP = """
for epoch in range(3):
    for x, y in data:
        total = total + score(y)
        seen += count(y)
        update(matrix, y)
        losses.append(loss(x))
        kept.append(loss(x))
        history.append(trainer.step(x))
        last = loss(x)
        print(mean(losses[-10:]))
        writer.scalar("loss", loss(x))
        while last > 2:
            pass
result = loss(x)
"""


def test_a_loop_needs_what_it_reads_again():
    code = Code({"cell": LOOP})
    uses = {code.line("cell", line): use_of(code, "cell", line) for line in range(4, 17)}
    assert [line for line, use in uses.items() if use == "record"] == [
        "kept.append(loss(x))",
        "print(mean(losses[-10:]))",
        'writer.scalar("loss", loss(x))',
    ]
    assert set(uses.values()) == {"record", ""}
