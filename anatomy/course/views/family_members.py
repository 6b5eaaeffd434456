"""The models of notebook 13, one row each: what the picture of the family tree and its table are made from.

Sizes are those that the source states, in its words or rounding; none is computed here, and where it states none
the table says so.
"""

from __future__ import annotations

from dataclasses import dataclass

ARXIV = "https://arxiv.org/abs/"
BRANCHES = {
    "root": "2017",
    "encoder": "Encoders: reading",
    "decoder": "Decoders: writing",
    "both": "Encoder–decoders: rewriting",
    "beyond": "Beyond text",
}


@dataclass(frozen=True)
class Member:
    """One model.

    Attributes
    ----------
    year
        When it was first published (on arXiv, where it is there).
    branch
        A key of `BRANCHES`.
    parent
        The name of the model that it is closest to; empty for the first.
    changed, objective, size
        What it changed, what it was trained to do, how many parameters it has, each in a few words.
    source
        Who, and where the size stands: "Devlin et al., §3".
    link
        The page of the paper, or of the model where there is no paper.
    """

    name: str
    year: int
    branch: str
    parent: str
    changed: str
    objective: str
    size: str
    source: str
    link: str


FAMILY = (
    Member("Transformer", 2017, "root", "",
           "attention alone, no recurrence; an encoder and a decoder",
           "translation", "65M, 213M", "Vaswani et al., Table 3",
           ARXIV + "1706.03762"),
    Member("BERT", 2018, "encoder", "Transformer",
           "the encoder alone, pretrained to be fine-tuned",
           "fill 15% masked tokens; is it the next sentence?", "110M, 340M", "Devlin et al., §3",
           ARXIV + "1810.04805"),
    Member("RoBERTa", 2019, "encoder", "BERT",
           "the training: ten times the text, larger batches, fresh masks each time",
           "fill masked tokens", "355M (large)", "Liu et al., §5",
           ARXIV + "1907.11692"),
    Member("DistilBERT", 2019, "encoder", "BERT",
           "half of the layers, taught by BERT",
           "the teacher's probabilities and hidden states; masked tokens", "66M", "Sanh et al., Table 3",
           ARXIV + "1910.01108"),
    Member("ALBERT", 2019, "encoder", "BERT",
           "all layers share one set of weights; a narrow word table, widened after",
           "fill masked tokens; which sentence came first?", "12M to 235M", "Lan et al., Table 1",
           ARXIV + "1909.11942"),
    Member("XLM", 2019, "encoder", "BERT",
           "many languages in one model; pairs of translations as one text",
           "fill masked tokens, also across a translation; or the next token", "250M, 570M",
           "Lample and Conneau, §3; size: Conneau et al., appendix (for 15 and 100 languages)",
           ARXIV + "1901.07291"),
    Member("XLM-R", 2019, "encoder", "XLM",
           "100 languages, over two terabytes of text, no translations needed",
           "fill masked tokens", "270M, 550M", "Conneau et al., §3",
           ARXIV + "1911.02116"),
    Member("ELECTRA", 2020, "encoder", "BERT",
           "learns from every token, not from 15% of them",
           "which tokens did a small generator replace?", "14M, 110M, 335M", "Clark et al., Tables 1 and 2",
           ARXIV + "2003.10555"),
    Member("DeBERTa", 2020, "encoder", "RoBERTa",
           "scores from content and relative position, each with vectors of its own",
           "fill masked tokens", "up to 1.5B", "He et al., abstract",
           ARXIV + "2006.03654"),
    Member("BigBird", 2020, "encoder", "RoBERTa",
           "sparse attention, for texts eight times as long; also as the encoder of an encoder–decoder",
           "fill masked tokens, from RoBERTa's weights on", "size not stated", "Zaheer et al., §2 and §4",
           ARXIV + "2007.14062"),
    Member("ModernBERT", 2024, "encoder", "BERT",
           "rotary positions, gated feed-forward parts and two kinds of attention, for texts of 8,192 tokens",
           "fill 30% masked tokens", "149M, 395M", "Warner et al., §2.1",
           ARXIV + "2412.13663"),
    Member("GPT", 2018, "decoder", "Transformer",
           "the decoder alone, pretrained, then fine-tuned",
           "the next token", "117M", "Radford et al. 2018, §3; size: Radford et al. 2019, Table 2",
           "https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf"),
    Member("GPT-2", 2019, "decoder", "GPT",
           "larger, on 40 GB of text; tasks without fine-tuning; norms first",
           "the next token", "117M to 1,542M", "Radford et al. 2019, Table 2",
           "https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf"),
    Member("CTRL", 2019, "decoder", "GPT",
           "a code in front says which kind of text to write",
           "the next token, given the code", "1.63B", "Keskar et al., abstract",
           ARXIV + "1909.05858"),
    Member("GPT-3", 2020, "decoder", "GPT-2",
           "a hundred times larger; examples in the prompt instead of training",
           "the next token", "125M to 175B", "Brown et al., Table 2.1",
           ARXIV + "2005.14165"),
    Member("GPT-Neo", 2021, "decoder", "GPT-3",
           "after GPT-3's design, weights open to all, on open text (The Pile)",
           "the next token", "1.3B, 2.7B", "Black et al. (software), README",
           "https://github.com/EleutherAI/gpt-neo"),
    Member("GPT-J", 2021, "decoder", "GPT-3",
           "rotary positions (notebook 06); weights open to all",
           "the next token", "6B", "Wang and Komatsuzaki (software), README",
           "https://github.com/kingoflolz/mesh-transformer-jax"),
    Member("InstructGPT", 2022, "decoder", "GPT-3",
           "trained further: on answers that people wrote, then on which of two answers people prefer",
           "the next token; then what people prefer", "1.3B, 6B, 175B", "Ouyang et al., §1",
           ARXIV + "2203.02155"),
    Member("Chinchilla", 2022, "decoder", "GPT-3",
           "the balance: as much computing as for Gopher (280B), with a quarter of its size and four times its text",
           "the next token", "70B", "Hoffmann et al., abstract",
           ARXIV + "2203.15556"),
    Member("PaLM", 2022, "decoder", "GPT-3",
           "SwiGLU, rotary positions, one head of keys and values for all queries, no biases (notebook 14)",
           "the next token", "8B, 62B, 540B", "Chowdhery et al., §2 and Table 1",
           ARXIV + "2204.02311"),
    Member("LLaMA", 2023, "decoder", "PaLM",
           "RMS norm; smaller models on more text, all of it public (notebook 14 builds it)",
           "the next token", "6.7B to 65.2B", "Touvron et al. 2023, §2.2 and Table 2",
           ARXIV + "2302.13971"),
    Member("Llama 2", 2023, "decoder", "LLaMA",
           "twice the context; grouped queries in the large ones; also as a model to talk to",
           "the next token", "7B to 70B", "Touvron et al. 2023b, Table 1",
           ARXIV + "2307.09288"),
    Member("Mistral", 2023, "decoder", "Llama 2",
           "a sliding window (section 2) and grouped queries, in a small model",
           "the next token", "7B", "Jiang et al. 2023, abstract and §2",
           ARXIV + "2310.06825"),
    Member("DeepSeek-V3", 2024, "decoder", "LLaMA",
           "256 small experts, eight of them for each token, and one for all; keys and values kept in compressed form",
           "the next token, and the one after it", "671B, 37B a token", "DeepSeek-AI 2024, abstract, §2 and §4.2",
           ARXIV + "2412.19437"),
    Member("Llama 3", 2024, "decoder", "Llama 2",
           "grouped queries in all sizes, 128,000 tokens in the vocabulary, eight times the text",
           "the next token", "8B, 70B, 405B", "Grattafiori et al., §1, §3.2 and Table 3",
           ARXIV + "2407.21783"),
    Member("Qwen2", 2024, "decoder", "Llama 2",
           "biases at queries, keys and values; many languages; one of the models a mixture of experts",
           "the next token", "0.5B to 72B", "Yang et al. 2024, abstract and §2.2",
           ARXIV + "2407.10671"),
    Member("Mixtral", 2024, "decoder", "Mistral",
           "eight experts in each block, two of them for each token",
           "the next token", "47B, 13B a token", "Jiang et al. 2024, abstract",
           ARXIV + "2401.04088"),
    Member("Qwen3", 2025, "decoder", "Qwen2",
           "norms for queries and keys in place of biases; thinks before it answers, or not, as asked",
           "the next token", "0.6B to 235B", "Yang et al. 2025, abstract and §2",
           ARXIV + "2505.09388"),
    Member("T5", 2019, "both", "Transformer",
           "every task is text in, text out; relative positions",
           "write the pieces that were cut out", "60M to 11B", "Raffel et al., §3.7",
           ARXIV + "1910.10683"),
    Member("BART", 2019, "both", "Transformer",
           "BERT's encoder and GPT's decoder, trained together",
           "restore the whole text from a damaged one", "BERT + about 10%", "Lewis et al., §2.1",
           ARXIV + "1910.13461"),
    Member("M2M-100", 2020, "both", "Transformer",
           "translates between 100 languages, not by way of English",
           "translation", "up to 15.4B", "Fan et al., §1",
           ARXIV + "2010.11125"),
    Member("ViT", 2020, "beyond", "Transformer",
           "the encoder, on patches of an image",
           "the class of an image", "86M, 307M, 632M", "Dosovitskiy et al., Table 1",
           ARXIV + "2010.11929"),
    Member("CLIP", 2021, "beyond", "ViT",
           "an encoder for images (a ViT, or a convolutional network) and one for texts, one space for both",
           "which text belongs to which image?", "63M (text, base)", "Radford et al. 2021, §2.4",
           ARXIV + "2103.00020"),
)  # fmt: skip
"""Parents come before their children."""
