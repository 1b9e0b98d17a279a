import pytest

from tfprof_nb import CaptureError
from tfprof_nb.capture.remote.workers import find_workers


def addresses(text):
    return [worker.address for worker in find_workers(text)]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("10.0.0.2:6009", ["10.0.0.2:6009"]),
        ("grpc://worker-0.train.svc:6009", ["worker-0.train.svc:6009"]),
        ("a:1, grpc://b:2,,", ["a:1", "b:2"]),
        (["a:1,b:2", "c:3"], ["a:1", "b:2", "c:3"]),
        ("a:1,grpc://a:1", ["a:1"]),
        ("[::1]:65535", ["[::1]:65535"]),
    ],
)
def test_addresses_as_people_write_them(given, found):
    assert addresses(given) == found


@pytest.mark.parametrize(
    "given", ["", " , ", [], "a b:1", "host:", "host:0", "host:65536", "http://host:1", "a:1;b:2", None, [6009], 6009]
)
def test_what_is_no_address_is_refused(given):
    with pytest.raises(ValueError, match=r"host:port|address was given"):
        find_workers(given)


def test_keys_are_file_names_and_differ_on_one_machine():
    keys = [worker.key for worker in find_workers("127.0.0.1:6001,127.0.0.1:6002,[::1]:6001")]
    assert keys == ["127.0.0.1_6001", "127.0.0.1_6002", "1_6001"]


def test_a_tpus_name_without_cloud_access_says_what_to_do(monkeypatch):
    # Google's own name for its metadata server, here an address that refuses: the answer must not depend on a network.
    monkeypatch.setenv("GCE_METADATA_IP", "127.0.0.1:1")
    with pytest.raises(CaptureError, match=r"'my-tpu' has no port.*Cloud TPU.*host:8466"):
        find_workers("my-tpu")
