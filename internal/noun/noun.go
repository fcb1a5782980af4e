// Package noun puts numbers and articles before nouns in messages: 1 state, 3 properties, an MDP.
package noun

import (
	"fmt"
	"strings"
)

// Integer is a type of the numbers that are counted.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint32 | ~uint64
}

// Count returns a number with its noun, given in the singular: Count(2, "reward structure") is "2 reward structures".
func Count[N Integer](n N, singular string) string {
	return fmt.Sprintf("%d %s", n, Plural(n, singular))
}

// Plural returns a noun, given in the singular, in the form that follows the number n.
func Plural[N Integer](n N, singular string) string {
	if n == 1 {
		return singular
	}
	for _, ending := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(singular, ending) {
			return singular + "es"
		}
	}
	stem, ok := strings.CutSuffix(singular, "y")
	if ok && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	return singular + "s"
}

// Verb returns the form of a verb that agrees with the number n: Verb(n, "is", "are").
func Verb[N Integer](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// WithArticle returns a text with "a" or "an" before it, as it is spoken: a DTMC, an MDP, an interval, a state.
func WithArticle(text string) string {
	vowels := "aeiou"
	if word, _, _ := strings.Cut(text, " "); isSpelled(word) {
		vowels = "aefhilmnorsx" // the letters whose names begin with a vowel
	}
	if text != "" && strings.Contains(vowels, strings.ToLower(text[:1])) {
		return "an " + text
	}
	return "a " + text
}

// isSpelled reports whether a word is spoken letter by letter, as the abbreviations DTMC and mdp are.
func isSpelled(word string) bool {
	return len(word) > 1 && word == strings.ToUpper(word) || !strings.ContainsAny(strings.ToLower(word), "aeiouy")
}
