"""Write anatomy/course/data/flies.jsonl: "flies" as a noun or a verb, in sentences made from hand-written templates.

Templates come in pairs, one noun and one verb, with "flies" at the same place. So the place alone says nothing, and
what is read off the vector before any attention can't be right more often than half the time. A pair belongs to one
split, and so does the word before "flies". Run: python tools/flies.py
"""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "anatomy" / "course" / "data" / "flies.jsonl"

# (place of "flies", noun template, its fillings, verb template, its fillings); a filling's parts are split at "|"
Pair = tuple[int, str, tuple[str, ...], str, tuple[str, ...]]

TRAIN: tuple[Pair, ...] = (
    (2, "{} flies are a nuisance in {}.",
     ("House|the kitchen", "Black|early June", "Horse|the paddock", "Sand|the dunes", "Stable|the barn",
      "Deer|the woods"),
     "{} flies to {} every {}.",
     ("Anna|London|Monday", "Peter|Berlin|month", "Maria|Madrid|summer", "David|Tokyo|spring", "Grandma|Florida|winter",
      "Nobody|Iceland|day")),
    (3, "Some {} flies landed on the {}.",
     ("tiny|cake", "green|melon", "hungry|ham", "fat|butter", "noisy|curtain", "sleepy|window"),
     "The {} flies high above the {}.",
     ("eagle|valley", "hawk|meadow", "falcon|cliffs", "swan|lake", "dove|harbor", "raven|village")),
    (4, "There were {} flies in the {}.",
     ("dead|soup", "three|bathroom", "countless|tent", "many|cellar", "several|lampshade", "two|jam"),
     "My {} flies small planes {}.",
     ("older sister|on weekends", "best friend|for fun", "new boss|in his spare time", "favorite uncle|for a living",
      "friendly neighbor|across the border", "clever cousin|over the desert")),
    (5, "The {} eats {} flies {}.",
     ("spider|small|for breakfast", "frog|fresh|all day long", "lizard|slow|off the wall", "toad|juicy|after sunset",
      "bat|big|in the dark", "robin|young|in the garden"),
     "In the {} {} flies {}.",
     ("autumn|he|south to see his family", "morning|she|back to Rome", "film|she|on a broom", "story|he|to the moon",
      "dream|everyone|above the roofs", "evening|it|back to its nest")),
    (6, "I tried to {} the flies {}.",
     ("chase|away from the baby", "keep|out of the kitchen", "catch|with a wet towel", "ignore|on the ceiling",
      "count|on the windowpane", "draw|in my notebook"),
     "I heard that the {} flies {}.",
     ("president|in his own jet", "band|to Chicago tonight", "queen|home tomorrow", "team|to the finals on Friday",
      "minister|only at night", "actor|his own helicopter")),
    (3, "{} {} flies {}.",
     ("Frogs|swallow|in one gulp", "Spiders|trap|in their webs", "Fishermen|tie|by hand", "Cows|hate|in summer",
      "Children|chase|around the house", "Farmers|fight|with sticky paper"),
     "A {} flies faster than {}.",
     ("swallow|a sparrow", "jet|sound", "rocket|any plane", "pigeon|you think", "bee|a butterfly", "dragon|the wind")),
    (4, "We found {} flies {}.",
     ("drowned|in the milk", "frozen|on the balcony", "strange|under the bark", "pale|inside the cave",
      "golden|in a piece of amber", "blue|on the meat"),
     "When a {} flies {}, {}.",
     ("drone|over the garden|the dog barks", "plane|so low|the windows shake", "bat|past the lamp|she screams",
      "goose|alone|it tires quickly", "kite|too high|the string breaks", "helicopter|by|the children wave")),
    (6, "The {} of {} attracts flies {}.",
     ("smell|garbage|from the whole street", "scent|honey|and wasps", "odor|fish|at once", "light|candles|at night",
      "taste|syrup|within minutes", "warmth|cattle|every summer"),
     "The {} {} the {} flies {}.",
     ("flag|on|tower|at half mast", "kite|above|beach|without a sound", "woman|in|cockpit|without fear",
      "pilot|with|beard|at night only", "owl|from|barn|toward the trees", "drone|behind|fence|in circles")),
    (3, "Those {} flies {}.",
     ("annoying|woke me up", "ugly|bite", "lazy|never leave the lamp", "dirty|carry germs", "large|come from the barn",
      "red|drink blood"),
     "Our {} flies {}.",
     ("captain|this route twice a week", "teacher|home for Christmas", "daughter|alone for the first time",
      "doctor|out to the islands", "grandfather|model planes in the park", "company|food to the camps")),
    (2, "{} flies {}.",
     ("Many|prefer sugar to salt", "Most|die before winter", "All|have six legs", "Female|lay hundreds of eggs",
      "Male|guard a small territory", "Adult|live for a month"),
     "{} flies when {}.",
     ("Time|you are busy", "Dust|the truck passes", "Mud|the horses gallop", "Sand|the wind blows",
      "Snow|the skiers turn", "Hair|the barber works")),
    (8, "My {} says the {} had no flies {}.",
     ("aunt|house|last year", "father|office|before the heat wave", "neighbor|barn|until the horses came",
      "grandmother|village|when she was young", "friend|hotel|but plenty of ants", "wife|cabin|in those days"),
     "At the end of the {} {} flies {}.",
     ("week|she|home", "month|he|to his sister", "film|she|away on a dragon", "season|he|back to Canada",
      "story|it|to another planet", "year|everyone|to New York")),
    (5, "You can {} more flies {}.",
     ("catch|with honey than with vinegar", "see|near the river", "find|in the shade", "expect|after the rain",
      "study|with a better microscope", "breed|in a warm room"),
     "Sometimes a {} {} flies {}.",
     ("lost|balloon|across the town", "white|butterfly|through the open door", "lonely|crane|along the river",
      "military|jet|below the clouds", "wild|duck|into the net", "tennis|ball|into our garden")),
    (4, "{} {} flies {}.",
     ("Scientists often|use|to study genes", "Students still|draw|under the microscope",
      "Boys sometimes|trap|in bottles",
      "Cats rarely|eat|that buzz", "Cooks always|fear|in their kitchens", "Museums also|collect|from the tropics"),
     "This {} {} flies {}.",
     ("cheap|airline|to Lisbon", "rare|parrot|only at dawn", "huge|insect|at dusk", "yellow|moth|toward the light",
      "little|robot|by itself", "strange|machine|without wings")),
)  # fmt: skip

TEST: tuple[Pair, ...] = (
    (2, "{} flies buzzed around {}.",
     ("Four|the lamp", "Giant|the campfire", "Fruit|the bowl of peaches", "Angry|the sleeping dog",
      "Brown|the old cheese", "Ten|the butcher shop"),
     "{} flies an old {} over the {}.",
     ("Julia|biplane|fields", "Robert|airliner|ocean", "Sarah|balloon|mountains", "Thomas|glider|hills",
      "Emma|bomber|desert", "Henry|seaplane|lakes")),
    (3, "{} of flies {}.",
     ("Plenty|filled the air", "Thousands|covered the window", "Clouds|followed the herd",
      "Dozens|crawled over the fruit",
      "Millions|hatched after the flood", "Hundreds|sat on the wet paint"),
     "That {} flies {}.",
     ("arrow|straight into the target", "spaceship|to the nearest star", "crow|in a straight line",
      "sparrow|from branch to branch", "bullet|right through the wall", "girl|a kite better than anyone")),
    (4, "The {} hates flies {}.",
     ("cook|in his kitchen", "baby|on her nose", "cow|around her eyes", "guest|in his wine", "painter|on wet paint",
      "nurse|near open wounds"),
     "The {} {} flies {}.",
     ("brave|astronaut|around the earth", "rich|lady|first class", "red|flag|over the castle",
      "tired|mother|back to Boston",
      "heavy|stone|through the glass", "old|witch|over the village on her broom")),
    (5, "The {} filled with flies {}.",
     ("kitchen|during the strike", "stable|by noon", "market|in the heat", "swamp|after sunset", "dump|all year",
      "courtyard|before the storm"),
     "Twice a {} {} flies {}.",
     ("day|somebody|over the volcano", "month|grandpa|to see his friends", "week|Laura|to the coast",
      "year|Dad|to China",
      "day|Alice|out to the island", "season|George|down to Brazil")),
    (6, "I would rather {} {} flies than {}.",
     ("feed|harmless|wasps", "watch|ordinary|television", "keep|pet|snakes", "paint|shiny|flowers",
      "eat|roasted|raw snails", "study|tropical|beetles"),
     "I wonder how a {} flies {}.",
     ("beetle|with such short wings", "mosquito|in the rain", "squirrel|from tree to tree", "fish|over the waves",
      "peacock|up into a tree", "chicken|over that fence")),
    (8, "In the {} we were {} by flies {}.",
     ("jungle|bitten|all night", "garden|bothered|during dinner", "desert|followed|for miles",
      "office|distracted|all afternoon", "barn|surrounded|at once", "valley|attacked|every morning"),
     "On the {} of the {} {} flies {}.",
     ("cover|book|Superman|over a burning city", "day|wedding|rice|through the air",
      "night|festival|paper|through the streets", "deck|ship|spray|into our faces", "set|movie|glass|everywhere",
      "morning|race|gravel|from under the wheels")),
    (7, "The {} of the most {} flies {}.",
     ("wings|common|are clear", "eyes|beautiful|shine like gems", "eggs|dangerous|are hidden in meat",
      "legs|primitive|have few hairs", "colors|expensive|please anglers more than trout",
      "names|famous|are in this book"),
     "The {} of the {} {} flies {}.",
     ("owner|hotel|often|to Paris", "leader|party|never|alone", "son|king|always|in a private jet",
      "head|bank|seldom|at night", "youngest|family|now|on her own", "star|show|still|on a wire")),
)  # fmt: skip


def records() -> list[dict[str, object]]:
    """All sentences in order: split by split, pair by pair, noun and verb in turn."""
    found: list[dict[str, object]] = []
    for split, pairs in (("train", TRAIN), ("test", TEST)):
        for number, (_, noun, nouns, verb, verbs) in enumerate(pairs, 1):
            for one, other in zip(nouns, verbs, strict=True):
                for label, template, filling in (("noun", noun, one), ("verb", verb, other)):
                    sentence = template.format(*filling.split("|"))
                    name = f"{split}-{number:02d}-{label}"
                    found.append({"sentence": sentence, "label": label, "split": split, "template": name})
    return found


def text() -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records())


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"{FILE.name}: {len(records())} sentences")
