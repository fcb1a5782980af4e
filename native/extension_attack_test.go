package native_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// changes are changes of a vector of rules 8 to 10, as JSON. They report whether they apply.
var changes = map[string]func(rng *rand.Rand, vector map[string]any) bool{
	"discount": func(rng *rand.Rand, vector map[string]any) bool {
		return replace(vector, "discount", []string{"1/2", "9/10", "1/3", "89/100", "1", "0", "-1/2"}[rng.IntN(7)])
	},
	"steps": func(rng *rand.Rand, vector map[string]any) bool { return replace(vector, "to", rng.IntN(9)-1) },
	"max":   func(_ *rand.Rand, vector map[string]any) bool { vector["max"] = vector["max"] != true; return true },
	"kind": func(rng *rand.Rand, vector map[string]any) bool {
		return replace(vector, "kind", []string{"until", "discounted reward", "reward-bounded until", "reward within bounds", "conditional", "total reward", "maximal conditional"}[rng.IntN(7)])
	},
	"reward": func(rng *rand.Rand, vector map[string]any) bool { return replace(vector, "reward", rng.IntN(3)-1) },
	"left":   func(rng *rand.Rand, vector map[string]any) bool { return replace(vector, "left", rng.IntN(4)) },
	"right":  func(rng *rand.Rand, vector map[string]any) bool { return replace(vector, "right", rng.IntN(4)) },
	"bound": func(rng *rand.Rand, vector map[string]any) bool {
		bound := first(vector["budgets"], "bounds")
		if bound == nil {
			return false
		}
		switch key := []string{"low", "high", "low-strict", "high-strict", "reward"}[rng.IntN(5)]; key {
		case "low", "high":
			bound[key] = []string{"0", "1", "3/2", "2", "7", "-1"}[rng.IntN(6)]
		case "reward":
			bound[key] = rng.IntN(3) - 1
		default:
			bound[key] = bound[key] != true
		}
		return true
	},
	"states": func(rng *rand.Rand, vector map[string]any) bool {
		budgets, ok := vector["budgets"].(map[string]any)
		if ok {
			budgets["states"] = budgets["states"].(float64) + float64(rng.IntN(3)-1)
		}
		return ok
	},
	"given": func(rng *rand.Rand, vector map[string]any) bool {
		given, ok := vector["given"].(map[string]any)
		if !ok {
			return false
		}
		if rng.IntN(3) == 0 {
			given["certain"] = given["certain"] != true
			return true
		}
		given[[]string{"lower", "upper"}[rng.IntN(2)]] = []string{"0", "1", "1/2", "1/3", "9/10", "1/100", "2"}[rng.IntN(7)]
		return true
	},
	"condition": func(rng *rand.Rand, vector map[string]any) bool {
		automaton, ok := vector["automaton"].(map[string]any)
		if !ok || automaton["condition"] == nil {
			return false
		}
		switch key := []string{"condition", "excluded", "jumps", "pairs", "accepting"}[rng.IntN(5)]; key {
		case "condition":
			automaton["condition"], automaton["formula"] = automaton["formula"], automaton["condition"]
		case "pairs":
			automaton[key] = automaton[key].(float64) + float64(rng.IntN(3)-1)
		case "jumps":
			jumps := automaton[key].([]any)
			jumps[rng.IntN(len(jumps))] = nil
		default:
			marks := automaton[key].([]any)
			k := rng.IntN(len(marks))
			marks[k] = marks[k] != true
		}
		return true
	},
	"shares": func(rng *rand.Rand, vector map[string]any) bool {
		shares, ok := vector["shares"].([]any)
		if !ok {
			return false
		}
		share := shares[rng.IntN(2)].(map[string]any)
		switch rng.IntN(3) {
		case 0:
			shares[0], shares[1] = shares[1], shares[0]
		case 1:
			share["complement"] = share["complement"] != true
		default:
			share["vector"] = rng.IntN(4) - 1
		}
		return true
	},
}

// replace replaces a field of a vector, if it has it.
func replace(vector map[string]any, key string, value any) bool {
	if _, ok := vector[key]; !ok {
		return false
	}
	vector[key] = value
	return true
}

// first returns the first element of a list in a JSON object.
func first(object any, key string) map[string]any {
	fields, ok := object.(map[string]any)
	if !ok {
		return nil
	}
	return fields[key].([]any)[0].(map[string]any)
}

// changed returns a certificate file whose index a function changed; nil if nothing was changed.
func changed(t *testing.T, text []byte, change func(index map[string]any) bool) []byte {
	t.Helper()
	var out bytes.Buffer
	reader, writer := tar.NewReader(bytes.NewReader(text)), tar.NewWriter(&out)
	for {
		header, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		if header.Name == "certificates/index.json" {
			index := map[string]any{}
			if err := json.Unmarshal(content, &index); err != nil {
				t.Fatal(err)
			}
			if !change(index) {
				return nil
			}
			if content, err = json.Marshal(index); err != nil {
				t.Fatal(err)
			}
			header.Size = int64(len(content))
		}
		if err := writer.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// said returns what the second checker must print for a file with one claim.
func said(t *testing.T, text []byte) string {
	t.Helper()
	file, err := certificate.Read(t.Context(), bytes.NewReader(text), certificate.Limits{})
	if err != nil {
		return "no"
	}
	results, err := certify.Check(t.Context(), file)
	switch {
	case err != nil || results[0].Err != nil:
		return "no"
	case !results[0].Number:
		return fmt.Sprint(results[0].Holds)
	case results[0].Upper == nil:
		return fmt.Sprintf("value %s inf", results[0].Lower.RatString())
	}
	return fmt.Sprintf("value %s %s", results[0].Lower.RatString(), results[0].Upper.RatString())
}

// TestChangedExtensionCertificates: the two checkers say the same of certificates with changed vectors. They are other statements, and most are not
// proven.
func TestChangedExtensionCertificates(t *testing.T) {
	needs.Full(t)
	needs.Python(t)
	var texts [][]byte
	for i := range needs.Some(30) {
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		kind := []string{"dtmc", "mdp"}[i%2]
		job := runner.Job{File: "m.prism", Model: []byte(randomRewards(rng, kind)), Dialect: syntax.Storm}
		for _, property := range extensionProperties(rng, kind) {
			job.Props = []string{property}
			_, text := certificateOf(t, job)
			if len(text) == 0 {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(changes)) {
				other := changed(t, text, func(index map[string]any) bool {
					vectors := index["vectors"].([]any)
					return changes[name](rng, vectors[len(vectors)-1].(map[string]any))
				})
				if other == nil {
					continue
				}
				texts = append(texts, other)
			}
		}
	}
	accepted := 0
	for _, verdict := range checkSecond(t, texts) {
		if verdict != "no" {
			accepted++
		}
	}
	t.Logf("%d changed certificates, %d of them prove another statement", len(texts), accepted)
	if accepted == 0 || accepted == len(texts) {
		t.Error("all are accepted or all are rejected")
	}
}
