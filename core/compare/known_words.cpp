#include <string_view>

#include "compare/facts.hpp"
#include "text/hash.hpp"

namespace neardup {

namespace {

// Function words by language. A word of two languages counts for neither.
constexpr std::string_view kTongues[] = {
    "the of and to is that for with this are be was you from have which will can when your should has",
    "der die das und ist mit ein eine auf für von sich dem den zu werden wird oder sie auch wenn kann bei",
    "le les des et est dans pour que qui sur avec vous être du une cette sont peut votre aux par",
    "el los las una que para por con del es se como está su más puede cuando esta desde usted",
    "os não uma que para com do da em é são você como um ao pelo pode quando seu dos",
    "il di che è per una sono con della del gli nel alla può questo quando delle i più",
    "de het een van niet dat voor met op zijn worden wordt bij aan ook naar deze als",
    "och att det som är för på av inte med den kan till från ett om eller när",
    "og at det er som til på af ikke med den kan fra et om eller når har",
    "się na do że jest oraz jak dla nie są może który przez jeśli to",
    "je na se že pro jako není nebo které pokud při které může tak jsou",
    "ve bir bu için ile olarak daha olan veya gibi kadar sonra çok değil",
    "și este în pentru cu din nu care sau sunt poate fi mai această",
    "az és hogy nem egy ez vagy meg csak mint lehet kell amely",
    "ja ei että tai myös se kun voi joka ovat mutta sekä ole",
    "của và là không được cho các một trong có này với để khi",
    "yang dan dengan untuk tidak ini dari dalam atau pada akan dapat adalah",
    "els amb és una per les que més pot quan aquest aquesta dels",
};

constexpr std::string_view kNegations =
    "not no never without cannot neither nor none nobody nothing hardly except "
    "nicht kein keine keinen keinem keiner keines nie niemals ohne ne pas "
    "jamais sans aucun aucune nunca jamás não nao sem non senza niet geen nooit zonder inte aldrig utan ikke "
    "uden nie "
    "nigdy bez не нет ни никогда без нельзя nem soha không tidak tanpa değil yok "
    "لا لم لن ليس ليست بدون غير دون نه नहीं न मत 不 没 無 无 未 非 勿 否";

constexpr std::string_view kUnits =
    "kg km m cm mm g mg l ml s ms min h gb mb kb tb gib mib kib bit bits byte bytes hz mhz ghz w kw v mv ma "
    "usd eur gbp "
    "percent dollars euro euros pounds inches inch feet ft miles hours minutes seconds days weeks months "
    "years";

constexpr std::string_view kMonths =
    "january february march april may june july august september october november december jan feb mar apr "
    "jun jul aug "
    "sep sept oct nov dec";

constexpr std::string_view kFields = "title subject name package";

template <class Each>
void words_of(std::string_view list, Each each) {
    while (!list.empty()) {
        const std::size_t end = list.find(' ');
        if (end != 0) each(list.substr(0, end));
        if (end == std::string_view::npos) return;
        list.remove_prefix(end + 1);
    }
}

}  // namespace

KnownWords::Entry& KnownWords::entry(std::uint64_t hash) {
    std::size_t i = hash & (kSlots - 1);
    while (slots_[i].used && slots_[i].hash != hash) i = (i + 1) & (kSlots - 1);
    slots_[i].used = true;
    slots_[i].hash = hash;
    maybe_[hash >> 54] |= std::uint64_t{1} << (hash >> 48 & 63);
    return slots_[i].entry;
}

KnownWords::KnownWords(std::uint64_t seed) : seed_(seed) {
    const auto entry = [&](std::string_view word) -> Entry& { return this->entry(xxh3(word, seed)); };
    constexpr std::uint8_t kAmbiguous = 255;
    std::uint8_t tongue = 0;
    for (const auto list : kTongues) {
        ++tongue;
        words_of(list, [&](std::string_view word) {
            auto& known = entry(word).tongue;
            known = known == kLatin || known == tongue ? tongue : kAmbiguous;
        });
    }
    for (auto& slot : slots_)
        if (slot.entry.tongue == kAmbiguous) slot.entry.tongue = kLatin;
    words_of(kNegations, [&](std::string_view word) { entry(word).negation = true; });
    words_of(kUnits, [&](std::string_view word) { entry(word).unit = true; });
    words_of(kMonths, [&](std::string_view word) { entry(word).month = true; });
    words_of(kFields, [&](std::string_view word) { entry(word).field = true; });
}

void KnownWords::find_all(std::span<const std::uint64_t> hashes, Buffer<std::uint32_t>& places,
                          std::vector<const Entry*>& found) const {
    static constexpr Entry unknown;
    // Without branches on the bits: a third of the words of a text are known ones, so they would be mispredicted.
    places.resize(hashes.size());
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < hashes.size(); ++i) {
        places[count] = i;
        count += maybe(hashes[i]);
    }
    found.assign(hashes.size(), &unknown);
    for (std::size_t i = 0; i < count; ++i)
        if (const Entry* const known = in_slots(hashes[places[i]])) found[places[i]] = known;
}

}  // namespace neardup
