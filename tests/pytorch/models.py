"""Models of `transformers` at tiny sizes, with random weights; dropout is off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import transformers

BATCH, LENGTH, WORDS, SIDE = 2, 8, 40, 32
DENSE = {
    "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
    "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
}  # fmt: skip


class Sample(NamedTuple):
    """How to build a model and a batch of its inputs on the CPU, its loss included."""

    build: Callable[[], torch.nn.Module]
    batch: Callable[[], dict[str, torch.Tensor]]


def _words(**more: Callable[[], torch.Tensor]) -> Callable[[], dict[str, torch.Tensor]]:
    def batch() -> dict[str, torch.Tensor]:
        ids = torch.randint(3, WORDS, (BATCH, LENGTH))
        return {"input_ids": ids, "labels": ids, **{name: make() for name, make in more.items()}}

    return batch


def _pictures() -> dict[str, torch.Tensor]:
    return {
        "pixel_values": torch.randn(BATCH, 3, SIDE, SIDE),
        "labels": torch.randint(4, (BATCH,)),
    }


def _speech() -> dict[str, torch.Tensor]:
    labels = torch.randint(3, WORDS, (BATCH, LENGTH))
    return {"input_features": torch.randn(BATCH, 8, 24), "labels": labels}


def _bert() -> Any:
    config = transformers.BertConfig(vocab_size=WORDS, max_position_embeddings=LENGTH, **DENSE)
    return transformers.BertForMaskedLM(config)


def _gpt2() -> Any:
    config = transformers.GPT2Config(
        vocab_size=WORDS, n_positions=64, n_embd=16, n_layer=1, n_head=2,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config)


def _llama() -> Any:
    config = transformers.LlamaConfig(
        vocab_size=WORDS, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=64,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def _t5() -> Any:
    config = transformers.T5Config(
        vocab_size=WORDS, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
        dropout_rate=0.0, decoder_start_token_id=0,
    )  # fmt: skip
    return transformers.T5ForConditionalGeneration(config)


def _vit() -> Any:
    config = transformers.ViTConfig(image_size=SIDE, patch_size=16, num_labels=4, **DENSE)
    return transformers.ViTForImageClassification(config)


def _resnet() -> Any:
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=4
    )
    return transformers.ResNetForImageClassification(config)


def _whisper() -> Any:
    config = transformers.WhisperConfig(
        vocab_size=WORDS, num_mel_bins=8, d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
        decoder_ffn_dim=32, max_source_positions=12, max_target_positions=16, dropout=0.0,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    return transformers.WhisperForConditionalGeneration(config)


def _mamba() -> Any:
    config = transformers.MambaConfig(
        vocab_size=WORDS, hidden_size=16, state_size=4, num_hidden_layers=1, conv_kernel=4
    )
    return transformers.MambaForCausalLM(config)


def _mixtral() -> Any:
    config = transformers.MixtralConfig(
        vocab_size=WORDS, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=64,
        num_local_experts=4, num_experts_per_tok=2, output_router_logits=True,
    )  # fmt: skip
    return transformers.MixtralForCausalLM(config)


def _wav2vec2() -> Any:
    config = transformers.Wav2Vec2Config(
        vocab_size=WORDS, conv_dim=[8, 8], conv_kernel=[5, 3], conv_stride=[3, 2],
        num_feat_extract_layers=2, num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2,
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        hidden_dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, final_dropout=0.0,
        feat_proj_dropout=0.0, layerdrop=0.0, apply_spec_augment=False, pad_token_id=0,
        ctc_loss_reduction="mean",
    )  # fmt: skip
    return transformers.Wav2Vec2ForCTC(config)


def _sounds() -> dict[str, torch.Tensor]:
    return {"input_values": torch.randn(BATCH, 200), "labels": torch.randint(1, WORDS, (BATCH, 4))}


def _llava() -> Any:
    sizes = {name: DENSE[name] for name in list(DENSE)[:4]}
    config = transformers.LlavaConfig(
        text_config=transformers.LlamaConfig(vocab_size=WORDS, num_key_value_heads=1, **sizes),
        vision_config=transformers.CLIPVisionConfig(image_size=SIDE, patch_size=16, **sizes),
        image_token_index=WORDS - 1, vision_feature_layer=-1,
    )  # fmt: skip
    return transformers.LlavaForConditionalGeneration(config)


def _words_and_pictures() -> dict[str, torch.Tensor]:
    places = torch.full((BATCH, (SIDE // 16) ** 2), WORDS - 1)
    ids = torch.cat([places, torch.randint(3, WORDS - 1, (BATCH, LENGTH))], dim=1)
    return {"input_ids": ids, "labels": ids, "pixel_values": torch.randn(BATCH, 3, SIDE, SIDE)}


SAMPLES = {
    "bert": Sample(_bert, _words(attention_mask=lambda: torch.ones(BATCH, LENGTH).long())),
    "gpt2": Sample(_gpt2, _words()),
    "llama": Sample(_llama, _words()),
    "t5": Sample(_t5, _words()),
    "vit": Sample(_vit, _pictures),
    "resnet": Sample(_resnet, _pictures),
    "whisper": Sample(_whisper, _speech),
    "mamba": Sample(_mamba, _words()),
    "mixtral": Sample(_mixtral, _words()),
    "wav2vec2": Sample(_wav2vec2, _sounds),
    "llava": Sample(_llava, _words_and_pictures),
}
