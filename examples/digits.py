"""Train a two-layer perceptron on scikit-learn's 8x8 digits, by Adam written out as pytree code.

Run `python examples/digits.py`; compare backends by `arrayport verify examples/digits.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import arrayport as ap
import arrayport.numpy as anp

Params = list[tuple[ap.Array, ap.Array]]

PIXELS, HIDDEN, CLASSES = 64, 64, 10
BATCH, EPOCHS = 128, 30
RATE, DECAY_MEAN, DECAY_SQUARE, EPSILON = 3e-3, 0.9, 0.999, 1e-6

# Three hundred steps of training let the last bits of float32 grow.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-4}


class Adam(NamedTuple):
    """What Adam remembers: its steps so far, and running means of gradients and their squares."""

    count: ap.Array
    mean: Params
    square: Params


Training = tuple[Params, Adam]
Batch = tuple[ap.Array, ap.Array]


def initial(key: ap.Array) -> Params:
    """Draw each layer's weights, normal with variance 2 / inputs, and set its biases to zero."""
    sizes = [(PIXELS, HIDDEN), (HIDDEN, CLASSES)]
    return [
        (ap.random.normal(subkey, size) * (2 / size[0]) ** 0.5, anp.zeros(size[1]))
        for subkey, size in zip(ap.random.split(key), sizes, strict=True)
    ]


def scores(params: Params, images: ap.Array) -> ap.Array:
    """Return a score for each class, (n, 10), of images, (n, 64)."""
    (weights, biases), (out_weights, out_biases) = params
    return ap.nn.relu(images @ weights + biases) @ out_weights + out_biases


def loss(params: Params, images: ap.Array, labels: ap.Array) -> ap.Array:
    """Return the mean cross entropy of the true labels."""
    chances = ap.nn.log_softmax(scores(params, images))
    return -anp.mean(anp.sum(chances * ap.nn.one_hot(labels, CLASSES), axis=1))


def accuracy(params: Params, images: ap.Array, labels: ap.Array) -> ap.Array:
    """Return the share of images whose best-scored class is their label."""
    return anp.mean(anp.argmax(scores(params, images), axis=1) == labels)


def adam(grads: Params, state: Adam, params: Params) -> tuple[Params, Adam]:
    """Take one step of Adam down the gradients."""
    count = state.count + 1
    mean = ap.tree.map(lambda m, g: m + (1 - DECAY_MEAN) * (g - m), state.mean, grads)
    square = ap.tree.map(lambda s, g: s + (1 - DECAY_SQUARE) * (g * g - s), state.square, grads)
    rate = RATE * anp.sqrt(1 - DECAY_SQUARE**count) / (1 - DECAY_MEAN**count)
    params = ap.tree.map(
        lambda p, m, s: p - rate * m / (anp.sqrt(s) + EPSILON), params, mean, square
    )
    return params, Adam(count, mean, square)


@ap.jit
def train(key: ap.Array, images: ap.Array, labels: ap.Array) -> tuple[Params, ap.Array]:
    """Return the trained parameters and the loss before every step."""
    batches = len(images) // BATCH

    def step(carry: Training, batch: Batch) -> tuple[Training, ap.Array]:
        params, state = carry
        value, grads = ap.value_and_grad(loss)(params, *batch)
        return adam(grads, state, params), value

    def epoch(carry: Training, key: ap.Array) -> tuple[Training, ap.Array]:
        order = ap.random.permutation(key, len(images))[: batches * BATCH]
        order = order.reshape(batches, BATCH)
        return ap.lax.scan(step, carry, (images[order], labels[order]))

    initial_key, order_key = ap.random.split(key)
    params = initial(initial_key)
    zeros = ap.tree.map(anp.zeros_like, params)
    carry = params, Adam(anp.array(0.0), zeros, zeros)
    (params, _), losses = ap.lax.scan(epoch, carry, ap.random.split(order_key, EPOCHS))
    return params, losses.reshape(-1)


def digits(images: ap.Array, labels: ap.Array) -> ap.Array:
    """Train from a fixed seed and return the loss before every step."""
    _, losses = train(ap.random.PRNGKey(0), images, labels)
    return losses


def splits() -> list[np.ndarray]:
    """Load 1,437 training and 360 test images in [0, 1], (n, 64), then their labels."""
    images, labels = load_digits(return_X_y=True)
    images, labels = (images / 16).astype(np.float32), labels.astype(np.int32)
    return train_test_split(images, labels, test_size=0.2, random_state=0)


def example_inputs() -> tuple[np.ndarray, np.ndarray]:
    """Return the training images and labels."""
    images, _, labels, _ = splits()
    return images, labels


def main() -> None:
    """Train, and print the losses and the accuracy on images that training never saw."""
    images, test_images, labels, test_labels = splits()
    params, losses = train(ap.random.PRNGKey(0), images, labels)
    for step in (0, 10, 100, len(losses) - 1):
        print(f"step {step:3d}: loss {float(losses[step]):.4f}")
    print(f"test accuracy: {float(accuracy(params, test_images, test_labels)):.2%}")


if __name__ == "__main__":
    main()
