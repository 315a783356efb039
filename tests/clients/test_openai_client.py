"""The official openai client, whose own types read every answer."""

import asyncio
import math

import openai
import pytest
from conftest import running_engine

MODEL = "tiny-moe"
QUESTION = "Which element is 8 places after Titanium in order of atomic number?"
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather_in",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


@pytest.fixture(scope="module")
def client(engine):
    return openai.OpenAI(base_url=f"{engine}/v1", api_key="none", max_retries=0)


def ask(client, text=QUESTION, **more):
    more = {"temperature": 0, "max_tokens": 200, **more}
    return client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}], **more)


def test_the_model_is_listed(client):
    assert [model.id for model in client.models.list()] == [MODEL]


def test_a_chat_stream_is_the_whole_answer_in_pieces(client):
    whole = ask(client)
    chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == whole.choices[0].message.content != ""
    reasoning = "".join(getattr(delta, "reasoning", None) or "" for delta in deltas)
    assert reasoning == whole.choices[0].message.reasoning != ""
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == whole.choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    counts = ["prompt_tokens", "completion_tokens", "total_tokens"]
    assert [getattr(chunks[-1].usage, c) for c in counts] == [getattr(whole.usage, c) for c in counts]


def test_usage_adds_up(client):
    usage = ask(client).usage
    assert usage.prompt_tokens > 0 and usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert 0 < usage.completion_tokens_details.reasoning_tokens < usage.completion_tokens
    cut = ask(client, max_tokens=7)
    assert cut.usage.completion_tokens == 7
    assert cut.choices[0].finish_reason == "length"


def test_chat_logprobs_cover_every_token_and_agree_with_greedy_choice(client):
    answer = ask(client, logprobs=True, top_logprobs=3)
    tokens = answer.choices[0].logprobs.content
    assert len(tokens) == answer.usage.completion_tokens
    for token in tokens:
        assert bytes(token.bytes).decode() == token.token
        assert token.logprob == max(top.logprob for top in token.top_logprobs) <= 0
        assert len(token.top_logprobs) == 3
        assert sum(math.exp(top.logprob) for top in token.top_logprobs) <= 1 + 1e-6


def test_a_seed_decides_a_sampled_answer(client):
    texts = [client.completions.create(model=MODEL, prompt="The", temperature=2, max_tokens=24, seed=seed).choices[0].text
             for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_completions_take_text_and_token_ids(client):
    make = lambda **more: client.completions.create(model=MODEL, temperature=0, max_tokens=8, **more)
    text = make(prompt="The element", logprobs=2)
    assert text.usage.completion_tokens == 8 and text.choices[0].finish_reason == "length"
    probabilities = text.choices[0].logprobs
    assert "".join(probabilities.tokens) == text.choices[0].text
    assert len(probabilities.token_logprobs) == len(probabilities.top_logprobs) == 8
    ids = client.post("/../tokenize", body={"model": MODEL, "prompt": "The element"}, cast_to=dict[str, object])["tokens"]
    assert len(ids) == text.usage.prompt_tokens
    assert make(prompt=ids).choices[0].text == text.choices[0].text
    both = make(prompt=["The element", "Which period"], n=2)
    assert [choice.index for choice in both.choices] == [0, 1, 2, 3]
    assert both.choices[0].text == both.choices[1].text == text.choices[0].text
    streamed = "".join(chunk.choices[0].text for chunk in make(prompt="The element", stream=True))
    assert streamed == text.choices[0].text


def test_responses_answer_as_chat_does_and_stream_typed_events(client):
    make = lambda **more: client.responses.create(
        model=MODEL, input=QUESTION, temperature=0, max_output_tokens=200, reasoning={"effort": "low"}, **more)
    chat = ask(client, reasoning_effort="low")
    whole = make()
    assert whole.status == "completed"
    assert whole.output_text == chat.choices[0].message.content
    assert [item.type for item in whole.output] == ["reasoning", "message"]
    assert whole.usage.total_tokens == whole.usage.input_tokens + whole.usage.output_tokens
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (chat.usage.prompt_tokens, chat.usage.completion_tokens)
    events = list(make(stream=True))
    assert [events[0].type, events[-1].type] == ["response.created", "response.completed"]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == whole.output_text
    assert events[-1].response.output_text == whole.output_text


def test_a_response_cut_at_its_limit_is_incomplete(client):
    cut = client.responses.create(model=MODEL, input=QUESTION, temperature=0, max_output_tokens=5)
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert cut.usage.output_tokens == 5


def test_tools_and_their_results_reach_the_prompt(client):
    plain = ask(client)
    with_tool = ask(client, tools=[WEATHER])
    assert with_tool.usage.prompt_tokens > plain.usage.prompt_tokens + 20
    switched_off = ask(client, tools=[WEATHER], tool_choice="none")
    assert switched_off.choices[0].message.tool_calls in (None, [])
    call = {"id": "call_1", "type": "function", "function": {"name": "weather_in", "arguments": '{"city":"Oslo"}'}}
    turns = [
        {"role": "user", "content": "Is it cold in Oslo?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "4 degrees, rain"},
    ]
    told = client.chat.completions.create(model=MODEL, messages=turns, tools=[WEATHER], temperature=0, max_tokens=50)
    silent = client.chat.completions.create(model=MODEL, messages=turns[:1], tools=[WEATHER], temperature=0, max_tokens=50)
    assert told.usage.prompt_tokens > silent.usage.prompt_tokens + 10


@pytest.mark.parametrize("change, error, words", [
    ({"model": "nope"}, openai.NotFoundError, "nope"),
    ({"temperature": -1}, openai.BadRequestError, "temperature"),
    ({"tools": [WEATHER], "tool_choice": "required"}, openai.BadRequestError, "tool_choice"),
    ({"max_tokens": 10**9}, openai.BadRequestError, "max_tokens"),
    ({"logit_bias": {"-1": 1}}, openai.BadRequestError, "logit_bias"),
])
def test_refusals_arrive_as_the_clients_own_errors(client, change, error, words):
    with pytest.raises(error) as refused:
        client.chat.completions.create(
            **{"model": MODEL, "messages": [{"role": "user", "content": "x"}], "max_tokens": 4, **change})
    assert words in refused.value.body["message"]


def test_many_at_once_answer_as_each_alone(client, engine):
    prompts = [f"What is {i} + {i}?" for i in range(16)]
    alone = [ask(client, prompt, max_tokens=40).choices[0].message.content for prompt in prompts]

    async def all_at_once():
        async with openai.AsyncOpenAI(base_url=f"{engine}/v1", api_key="none", max_retries=0) as many:
            return await asyncio.gather(*[ask(many, prompt, max_tokens=40) for prompt in prompts])

    assert [answer.choices[0].message.content for answer in asyncio.run(all_at_once())] == alone


def test_the_key_is_sent_and_asked_for():
    with running_engine("--api-key", "open-sesame") as url:
        right = openai.OpenAI(base_url=f"{url}/v1", api_key="open-sesame", max_retries=0)
        assert ask(right, max_tokens=2).usage.completion_tokens == 2
        wrong = openai.OpenAI(base_url=f"{url}/v1", api_key="guess", max_retries=0)
        with pytest.raises(openai.AuthenticationError):
            ask(wrong, max_tokens=2)
