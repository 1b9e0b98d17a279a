"""Links between events: launches, contexts between threads, tf.data's producers and consumers."""

from builders import XSpace, forest
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.trace.flows import Flows
from tfprof_nb.decode import read_xspace


def linked(space):
    """Return the links as (cause, kind, effect), all names."""
    events = forest(space)
    flows, names = Flows(events), events.host.names[events.host.metadata]
    found = []
    for row in range(len(names)):
        found += [(names[row], flows.kind(effect), names[effect]) for effect in flows.effects(row).tolist()]
        for cause in flows.causes(row).tolist():
            assert row in flows.effects(cause)
    return found


def test_a_launch_leads_to_its_kernel():
    space = XSpace()
    space.plane("/host:CPU").line("python").event("cuLaunchKernel", duration_us=5, correlation_id=9)
    space.plane("/device:GPU:0").line("Stream #1").event("sgemm", start_us=20, duration_us=50, correlation_id=9)
    assert linked(space) == [("cuLaunchKernel", "launch", "sgemm")]


def test_a_function_leads_to_the_executor_s_threads():
    space = XSpace()
    cpu = space.plane("/host:CPU")
    cpu.line("python").event("FunctionRun", duration_us=90, _pt=2, _p=7)
    for thread in (1, 2):
        cpu.line(f"tf_Compute/{thread}").event("ExecutorState::Process", start_us=20, duration_us=50, _ct=2, _c=7)
    assert linked(space) == [("FunctionRun", "TensorFlow executor", "ExecutorState::Process")] * 2


def test_an_element_of_tf_data_goes_from_its_producer_to_its_consumer():
    """The threads of `xplane_to_tf_data_stats_test.cc`'s prefetch."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    consumer, producer = cpu.line("A", line_id=1), cpu.line("B", line_id=2)
    for element, produced, consumed in ((100, 0, 80), (200, 100, 210)):
        producer.event("PrefetchProduce", start_us=produced, duration_us=80, element_id=element)
        consumer.event("PrefetchConsume", start_us=consumed, duration_us=10, element_id=element)
    assert linked(space) == [("PrefetchProduce", "tf.data element", "PrefetchConsume")] * 2


def test_what_shares_no_key_is_not_linked():
    space = XSpace()
    cpu = space.plane("/host:CPU")
    cpu.line("python").event("FunctionRun", duration_us=90, _pt=2, _p=7)
    cpu.line("other").event("ExecutorState::Process", start_us=20, duration_us=50, _ct=2, _c=8)
    assert linked(space) == []


def test_an_iterator_is_started_by_the_executor_that_ran_before_it():
    """The executor continues when the element is there: with the last `Process` of the iteration, in file and time."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    for thread, start_us in enumerate((0, 20, 300, 200)):
        process = cpu.line(f"tf_Compute/{thread}")
        process.event("ExecutorState::Process", start_us=start_us, duration_us=10, id=7, iter_num=0, at=start_us)
    iterator = cpu.line("tf_data_iterator_get_next")
    iterator.event("IteratorGetNextOp::DoCompute", start_us=30, duration_us=100, id=7, iter_num=0)
    events = forest(space)
    flows, starts = Flows(events), events.host.start_ps
    (effect,) = events.named("IteratorGetNextOp::DoCompute").nonzero()[0].tolist()
    assert starts[flows.causes(effect)].tolist() == [20e6]
    assert flows.kind(effect) == "iterator"


def test_no_cause_begins_after_its_effect(shared_data):
    """In these captures ids are used again, and an executor continues after the iterator that it started."""
    kinds = set()
    for path in sorted(shared_data.glob("tf2-gpu-*/plugins/profile/*/*.xplane.pb"))[:6]:
        events = Forest(read_xspace(path.read_bytes(), path.name))
        flows, starts = Flows(events), events.host.start_ps
        for effect in range(len(starts)):
            causes = flows.causes(effect)
            assert (starts[causes] <= starts[effect]).all()
            if len(causes):
                kinds.add(flows.kind(effect))
    assert {"iterator", "context", "launch"} <= kinds


def test_an_id_that_is_used_again_links_nothing_backwards():
    space = XSpace()
    cpu = space.plane("/host:CPU")
    cpu.line("pool").event("ExecutorState::Process", start_us=0, duration_us=50, _ct=2, _c=7)
    cpu.line("python").event("FunctionRun", start_us=60, duration_us=90, _pt=2, _p=7)
    produce, consume = cpu.line("A", line_id=3), cpu.line("B", line_id=4)
    consume.event("PrefetchConsume", start_us=0, duration_us=10, element_id=100)
    produce.event("PrefetchProduce", start_us=50, duration_us=10, element_id=100)
    assert linked(space) == []
