"""What visitors ask of the one that speaks: what it is, who made it, what it can do and how."""

from __future__ import annotations

from bot.chat.smalltalk_frames import frame

MADE = "(?:made|create[ds]?|built|buil[dt]|program+ed|develop(?:ed|s)?|trained|designed|coded|wrote|invented)"
HECHO = (
    "(?:hizo|hicieron|hecho|cre[oa]d?o?|crearon|programo|programado|programaron|construyo|construido|"
    "entreno|entrenado|entrenaron|desarrollo|desarrollado|desarrollaron|diseno|disenado|invento|fabrico)"
)
THING = (
    "(?:bots?|chatbots?|robots?|machine|maquina|computer|ordenador|ai|ia|artificial|human|humans|humano|"
    "humana|humanos|person|persona|people|someone|somebody|alguien|real|gpt|chatgpt|llm|automatic|automatico|"
    "automatica|virtual|assistant|asistente|program|programa|software|anyone|anybody|alive|vivo|viva|models?|modelos?)"
)
YOU = (
    "(?:you|eres|sos|tu|te|usted|talk\\w*|speak\\w*|chat\\w*|hablo|hablando|habla|chateando|escribiendo|ahi|"
    "alli|there|otro|is this|es esto|este chat|funcionas)"
)

TONGUES = """
ademas also an another answer answers ask can castellano chat contestas cual cuales cuantas cuantos do does
either en english entiendes escribir escribirte espanol hablar hablarte hablas i idioma idiomas in ingles is
know language languages lengua lenguas many only other otra otras otro otros preguntar preguntarte puedes
puedo que questions reply respondes sabes solo spanish speak talk tambien te to understand use what which with
write you your
"""

IDENTITY = (
    # What is speaking: «is there a real person behind this chat?», «¿estoy hablando con una máquina?»
    frame(
        "identity",
        rf"""
        {YOU} (?:\w+ ){{0,5}}{THING} / {THING} (?:\w+ ){{0,5}}{YOU} /
        (?:who|quien) (?:\w+ ){{0,2}}(?:behind|detras de) (?:this|the|el|este) (?:chat|bot)
        """,
        """
        1 2 3 4 5 actual actually ahi ai alguien algun alguna alive alli am an anybody anyone are
        artificial asistente assistant at automatic automatica automatico behind being bot bots by carne
        chat chatbot chatbots chateando chatgpt chatting clase computer con cual de del detras el else
        end eres es escribiendo esta este esto estoy funcionas gpt gpt4 gpt5 habla hablando hablo hay
        here hueso human humana humano humanos humans i ia in inteligencia intelligence is it just kind
        la lado language lenguaje llm machine maquina model modelo modelos models of on ordenador other
        otro people person persona program programa que quien real really responde respondes robot
        robots ser simple software sois solo some somebody someone sos speaking specie talking te that
        the there this tipo to tu un una usas usted verdad virtual viva vivo what which who whom with
        you your
        """,
    ),
    # Who made it.
    frame(
        "identity",
        rf"""
        (?:who|whom|company|people) (?:\w+ ){{0,2}}{MADE} you / were you {MADE} /
        {MADE} this (?:chat|bot|chatbot|assistant) /
        your (?:creator|maker|developer|author|programmer|inventor) /
        quien(?:es)? (?:\w+ )?te (?:ha |han |habia )?{HECHO} / fuiste (?:\w+ )?{HECHO} /
        tu (?:creador|creadora|programador|programadora|autor|autora|inventor)
        """,
        """
        are assistant author autor autora bot built by chat chatbot coded como company construido
        construyo creado creador creadora crearon created creator creo cual desarrollado desarrollaron
        desarrollo designed developed developer disenado diseno empresa en entrenado entrenaron entreno
        es fabrico fue fuiste ha habia han has have hecho hicieron hizo how in invented invento inventor
        is la made maker people person persona por program programado programador programadora
        programaron programmed programmer programo que quien quienes te that the this trained tu was
        were what when which who whom whose wrote you your
        """,
    ),
    # What it is called.
    frame(
        "identity",
        r"""
        your name / (?:have|has) a name / name do you / call you / tu nombre / te llamas / te llamo /
        introduce yourself / who you are / what you are / presentate / quien eres / que eres /
        who are you / what are you
        """,
        """
        are bot call can como cual dime do does eres es even exactamente exactly have i in introduce is
        know like llamas llamo name nombre presentate puedo que quien quiero really realmente saber
        should te tell the tienes to tu want what who would you your yourself
        """,
    ),
    # What it can do and how to ask.
    frame(
        "identity",
        r"""
        can (?:you|i) (?:\w+ ){0,2}(?:do|help|answer|tell|ask|know|explain|chat|say|talk) /
        could you help / (?:able|capable|purpose|designed|meant|made) (?:to|of|for) /
        your (?:purpose|job|abilities|features|capabilities|skills|role|function) / you help /
        are you for / for (?:what|which) (?:\w+ )?are you / do you know /
        this (?:chat|bot|assistant|chatbot) for / use (?:you|this) / should i ask / need help /
        puedo (?:preguntar|preguntarte|pedir|pedirte|hacer|hacerte|consultar|consultarte|hablar) /
        puedes (?:\w+ )?(?:hacer|ayudar|ayudarme|contestar|contestarme|responder|responderme|contarme|
        decirme|hablar|explicarme|ofrecerme) / sabes (?:hacer|responder|contestar)? ?/ sirves /
        sirve este (?:chat|bot|asistente) / (?:me )?ayudas / ayudame /
        tu (?:funcion|utilidad|proposito|trabajo|papel) / tus (?:funciones|capacidades) /
        necesito ayuda / es este (?:chat|bot|asistente) / haces aqui
        """,
        """
        abilities able about algo all an answer answers any anything aqui are as asistente ask assistant
        ayuda ayudame ayudar ayudarme ayudas bot can capabilities capable capacidades chat chatbot clase
        como consultar consultarte contarme contestar contestarme cosa cosas could cual cuales cuentame
        de decirme designed do does el en es eso este exactamente exactly explain explicarme features
        for funcion funciones function get give hablar hacer hacerte haces help how i in is it job kind
        kinds know la las lo los made meant more my necesito need of ofrecerme on papel para pedir
        pedirte podrias preguntar preguntaros preguntarte preguntas proposito puedes puedo purpose que
        question questions responder responderme role sabes say se should sirve sirves skills sort sorts
        stuff talk te tell temas that the thing things this tipo tipos to topics trabajo tu tus usar
        usarte use utilidad what which with you your
        """,
    ),
    # How it works and where its answers come from.
    frame(
        "identity",
        r"""
        how (?:exactly )?do you (?:even )?(?:work|function) /
        how (?:does|do) (?:this|the) (?:chat|bot|assistant|chatbot) (?:even )?work /
        (?:your|the) (?:answers?|information|info|knowledge|replies) (?:come )?from /
        (?:get|find|take|know) (?:\w+ )?(?:your )?(?:answers|information|info|knowledge) / funcionas /
        funciona (?:este|el) (?:chat|bot|asistente|chatbot) /
        (?:sacas|obtienes|consigues|buscas) (?:\w+ ){0,2}(?:respuestas|informacion|datos) /
        sabes (?:\w+ )?(?:respuestas|cosas)
        """,
        """
        all answer answers asistente assistant bot buscas chat chatbot come comes como consigues cosas
        datos de dime do does donde el esas esta estas este even exactamente exactly explain find from
        funciona funcionas function get hood how i in info informacion information inside internamente
        know knowledge la las los obtienes replies respuestas sabes sacas take te tell the this tu tus
        under what where work works you your
        """,
    ),
    # In which languages one may ask. Of a site that says how well somebody speaks one, «which languages do
    # you speak?» asks for that.
    frame(
        "identity",
        r"""
        in (?:which|what) (?:other )?languages? / (?:write|ask|talk|chat|answer|
        reply) (?:\w+ ){0,4}in (?:(?:an)?other languages?|english|spanish) /
        en (?:que|cuales|otros?) (?:otros? )?(?:idiomas?|lenguas?) / (?:hablarte|escribirte|escribir|
        preguntar|preguntarte|hablar|respondes|contestas) (?:\w+ ){0,2}(?:idiomas?|lenguas?|ingles|
        espanol|castellano)
        """,
        TONGUES,
    ),
    frame(
        "identity",
        r"""
        (?:speak|understand|know) (?:\w+ ){0,3}(?:languages?|english|spanish) /
        languages? (?:\w+ ){0,3}(?:speak|understand) /
        (?:hablas|entiendes|sabes) (?:\w+ ){0,3}(?:idiomas?|lenguas?|ingles|espanol|castellano) /
        (?:idiomas?|lenguas?) (?:hablas|entiendes|sabes)
        """,
        TONGUES,
        unless="b1 b2 c1 c2 fluent bilingue bilingual hablo hablamos",
    ),
)
