"""What to do about images that Keras prepares in Python."""


def test_what_prepares_images_for_keras_is_named_and_told_to_become_layers(advised, the_one):
    found = the_one(advised("images/turned"), "slow-generator")
    assert found["finding"] == "Steps wait for their data: turned prepares its images in Python"
    assert found["place"] == "cell line 2"
    assert "`turned.workers = 2`" in found["fix"]
