"""Names of months and weekdays by language: the words that `Normalize(dates="fold")` treats as parts of a date.

Every form that occurs in dates is listed, such as genitives. Short forms that are common words of their own or a
neighbouring language (French mer, German so, Italian set), and Portuguese weekdays that are numerals, are left out.
"""

from __future__ import annotations

from hashlib import blake2b

__all__ = ["DATE_WORDS", "DIGEST", "names"]

DATE_WORDS = {
    "en": "january february march april may june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu "
    "thur thurs fri sat sun am pm gmt utc",
    "de": "januar jänner februar feber märz april mai juni juli august september oktober november dezember montag "
    "dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mrz okt dez",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre lundi mardi mercredi "
    "jeudi vendredi samedi dimanche janv févr avr juil déc",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre lunes "
    "martes miércoles jueves viernes sábado domingo ene abr dic",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro sábado domingo "
    "fev abr dez",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre lunedì "
    "martedì mercoledì giovedì venerdì sabato domenica gen giu lug ott dic",
    "ca": "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre dilluns dimarts dimecres "
    "dijous divendres dissabte diumenge",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december maandag dinsdag "
    "woensdag donderdag vrijdag zaterdag zondag mrt okt",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december måndag tisdag onsdag "
    "torsdag fredag lördag söndag",
    "da": "januar februar marts april maj juni juli august september oktober november december mandag tirsdag onsdag "
    "torsdag fredag lørdag søndag",
    "no": "januar februar mars april mai juni juli august september oktober november desember mandag tirsdag onsdag "
    "torsdag fredag lørdag søndag måndag tysdag laurdag sundag",
    "fi": "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu "
    "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta "
    "marraskuuta joulukuuta maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai",
    "pl": "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień stycznia "
    "lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia poniedziałek wtorek "
    "środa czwartek piątek sobota niedziela",
    "cs": "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec ledna února března dubna "
    "května června července srpna října listopadu prosince pondělí úterý středa čtvrtek pátek sobota neděle",
    "sk": "január február marec apríl máj jún júl august september október november december januára februára marca "
    "apríla mája júna júla augusta septembra októbra novembra decembra pondelok utorok streda štvrtok piatok sobota "
    "nedeľa",
    "hr": "siječanj veljača ožujak travanj svibanj lipanj srpanj kolovoz rujan listopad studeni prosinac siječnja "
    "veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca ponedjeljak utorak "
    "srijeda četvrtak petak subota nedjelja",
    "sl": "januar februar marec april maj junij julij avgust september oktober november december januarja februarja "
    "marca aprila maja junija julija avgusta septembra oktobra novembra decembra ponedeljek torek sreda četrtek "
    "petek sobota nedelja",
    "hu": "január február március április május június július augusztus szeptember október november december hétfő "
    "kedd szerda csütörtök péntek szombat vasárnap",
    "ro": "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie luni "
    "marți miercuri joi vineri sâmbătă duminică",
    "tr": "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık pazartesi salı çarşamba perşembe "
    "cuma cumartesi",
    "id": "januari februari maret april mei juni juli agustus september oktober november desember senin selasa rabu "
    "kamis jumat sabtu minggu",
    "ru": "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь января февраля марта апреля "
    "мая июня июля августа сентября октября ноября декабря понедельник вторник среда четверг пятница суббота "
    "воскресенье янв фев апр авг сен сент окт ноя дек",
    "uk": "січень лютий березень квітень травень червень липень серпень вересень жовтень листопад грудень січня лютого "
    "березня квітня травня червня липня серпня вересня жовтня листопада грудня понеділок вівторок середа четвер "
    "пʼятниця субота неділя",
    "be": "студзень люты сакавік красавік май чэрвень ліпень жнівень верасень кастрычнік лістапад снежань студзеня "
    "лютага сакавіка красавіка мая чэрвеня ліпеня жніўня верасня кастрычніка лістапада снежня панядзелак аўторак "
    "серада чацвер пятніца субота нядзеля",
    "bg": "януари февруари март април май юни юли август септември октомври ноември декември понеделник вторник сряда "
    "четвъртък петък събота неделя",
    "sr": "јануар фебруар март април мај јун јул август септембар октобар новембар децембар понедељак уторак среда "
    "четвртак петак субота недеља јануара фебруара марта априла маја јуна јула августа септембра октобра новембра "
    "децембра",
    "mk": "јануари февруари март април мај јуни јули август септември октомври ноември декември понеделник вторник "
    "среда четврток петок сабота недела",
    "el": "ιανουάριος φεβρουάριος μάρτιος απρίλιος μάιος ιούνιος ιούλιος αύγουστος σεπτέμβριος οκτώβριος νοέμβριος "
    "δεκέμβριος ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου "
    "νοεμβρίου δεκεμβρίου δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή",
    "ko": "월요일 화요일 수요일 목요일 금요일 토요일 일요일 오전 오후",
}

# Korean writes a number and its unit as one word. Chinese and Japanese write 2024年5月3日, whose signs are separate
# tokens and are kept: such dates differ only in digits, which `digits="fold"` makes equal.
_KOREAN_UNITS = (("년", range(1900, 2100)), ("월", range(13)), ("일", range(32)), ("시", range(25)))

DIGEST = blake2b(repr((DATE_WORDS, _KOREAN_UNITS)).encode(), digest_size=4).hexdigest()


def names(casefold: bool) -> list[str]:
    """Every name in every language, each once; if case counts, in lower case, title case and upper case."""
    found = {name for words in DATE_WORDS.values() for name in words.split()}
    if not casefold:
        found |= {name.capitalize() for name in found} | {name.upper() for name in found}
    found |= {f"{number}{unit}" for unit, numbers in _KOREAN_UNITS for number in numbers}
    found |= {f"{number:02}{unit}" for unit, numbers in _KOREAN_UNITS[1:] for number in numbers}
    return sorted(found)
