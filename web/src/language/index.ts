// The words of the page, and its numbers, sizes, dates and lists, in the language of the user.
export { anyOf, clockOf, dateOf, dayOf, dollarsOf, factsOf, numberOf, percentOf, sizeOf, wordsBetween } from "./formats";
export { keepLanguage, keptLanguage, LANGUAGES, loadRest, preferredLanguage, speak, spokenLanguage, watchLanguage } from "./language";
export { BRAND, type Key, type PlainKey, rich, t } from "./translate";
