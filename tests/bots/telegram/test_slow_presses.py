"""A pressed button, or a greeting, that Telegram keeps waiting: nobody else waits for it."""

from bots.platform import Button
from tests.bots.scene import view
from tests.bots.telegram.scene import ASKER, Scene
from tests.fakes.waiting import until
from tests.servers.faults import Fault


async def test_a_press_that_hangs_keeps_no_question_waiting(scene: Scene) -> None:
    scene.server.say(ASKER, "How many?")
    (incoming,) = await scene.inbox.wait()
    (part,) = scene.platform.render(view("Five.", Button.FEEDBACK))
    await scene.platform.send(incoming, part, begun=None, key="k", number=0)
    (answer,) = scene.server.answers(ASKER)
    (up,) = [b["callback_data"] for row in answer["reply_markup"]["inline_keyboard"] for b in row if b["text"] == "👍"]
    scene.server.faults.add("editMessageReplyMarkup", Fault(status=200, delay=6.0))
    scene.server.press(answer, up)
    await until(lambda: scene.inbox.votes)
    scene.server.say(43, "And me?", user=43)
    await scene.inbox.wait(2, seconds=3.0)


async def test_a_greeting_that_hangs_keeps_no_question_waiting(scene: Scene) -> None:
    scene.inbox.greeting = view("Hello.")
    scene.server.faults.add("sendMessage", Fault(status=200, delay=6.0))
    scene.server.say(ASKER, "/start")
    scene.server.say(43, "And me?", user=43)
    await scene.inbox.wait(1, seconds=3.0)
