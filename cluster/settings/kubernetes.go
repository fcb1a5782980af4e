package settings

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/api/validate/content"
)

// Kubernetes has the settings for a Kubernetes cluster only. The functions with which Kubernetes' API server checks names also check them here.
type Kubernetes struct {
	Image       string   `json:"image,omitzero"`       // the container image in which the staged program runs
	Claim       string   `json:"claim,omitzero"`       // the persistent volume claim that has the directory
	Mount       string   `json:"mount,omitzero"`       // the absolute path on this machine where the claim is mounted
	Namespace   string   `json:"namespace,omitzero"`   //
	Context     string   `json:"context,omitzero"`     // of kubectl; not read from tilecheck.yaml, because it selects the credentials
	Parallelism int      `json:"parallelism,omitzero"` // the largest number of pods at one time
	RunAs       string   `json:"runAs,omitzero"`       // UID:GID
	PullSecret  string   `json:"pullSecret,omitzero"`
	Priority    string   `json:"priority,omitzero"`    // a priority class
	Labels      []string `json:"labels,omitzero"`      // KEY=VALUE
	Nodes       []string `json:"nodes,omitzero"`       // labels that a node must have, KEY=VALUE
	Tolerations []string `json:"tolerations,omitzero"` // KEY[=VALUE][:EFFECT]
}

// over returns the settings of k and, where k has none, those of defaults. It joins lists.
func (k Kubernetes) over(defaults Kubernetes) Kubernetes {
	return Kubernetes{
		Image:       cmp.Or(k.Image, defaults.Image),
		Claim:       cmp.Or(k.Claim, defaults.Claim),
		Mount:       cmp.Or(k.Mount, defaults.Mount),
		Namespace:   cmp.Or(k.Namespace, defaults.Namespace),
		Context:     cmp.Or(k.Context, defaults.Context),
		Parallelism: cmp.Or(k.Parallelism, defaults.Parallelism),
		RunAs:       cmp.Or(k.RunAs, defaults.RunAs),
		PullSecret:  cmp.Or(k.PullSecret, defaults.PullSecret),
		Priority:    cmp.Or(k.Priority, defaults.Priority),
		Labels:      slices.Concat(defaults.Labels, k.Labels),
		Nodes:       slices.Concat(defaults.Nodes, k.Nodes),
		Tolerations: slices.Concat(defaults.Tolerations, k.Tolerations),
	}
}

// check returns an error if a setting is wrong.
func (k Kubernetes) check() error {
	err := cmp.Or(
		optional(k.Image, CheckImage),
		optional(k.Claim, CheckObject),
		optional(k.Mount, CheckMount),
		optional(k.Namespace, CheckNamespace),
		optional(k.Context, CheckContext),
		within("parallelism", int64(k.Parallelism), MaxShards),
		optional(k.RunAs, CheckRunAs),
		optional(k.PullSecret, CheckObject),
		optional(k.Priority, CheckObject),
	)
	for _, list := range []struct {
		entries []string
		check   func(string) error
	}{{k.Labels, CheckLabel}, {k.Nodes, CheckNode}, {k.Tolerations, CheckToleration}} {
		if len(list.entries) > maxSbatch {
			err = cmp.Or(err, fmt.Errorf("found %d labels or tolerations, want at most %d", len(list.entries), maxSbatch))
		}
		for _, entry := range list.entries {
			err = cmp.Or(err, list.check(entry))
		}
	}
	return err
}

// valid returns an error about the text s if a function of Kubernetes' API has found problems in it.
func valid(s string, problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("found %s: %s", brief(s), problems[0])
}

// brief quotes a text; of a long one it quotes the start and gives the length.
func brief(s string) string {
	if len(s) > maxText {
		return fmt.Sprintf("%q… (%d bytes)", s[:40], len(s))
	}
	return strconv.Quote(s)
}

// CheckImage checks the name of an image: registry.example:5000/team/tilecheck:1.
func CheckImage(s string) error {
	if _, err := reference.ParseNormalizedNamed(s); err != nil {
		return fmt.Errorf("found the image %s: %w", brief(s), err)
	}
	return nil
}

// CheckObject checks the name of a claim, a secret or a priority class.
func CheckObject(s string) error { return valid(s, content.IsDNS1123Subdomain(s)) }

// CheckNamespace checks the name of a namespace.
func CheckNamespace(s string) error { return valid(s, content.IsDNS1123Label(s)) }

// CheckContext checks the name of a context of kubectl. It may have any characters except control characters, and must not look like a flag.
func CheckContext(s string) error {
	isTooLong, looksLikeFlag := len(s) > maxText, strings.HasPrefix(s, "-")
	if s == "" || isTooLong || looksLikeFlag || strings.ContainsFunc(s, isControl) {
		return fmt.Errorf("found the context %s, want a name of kubectl config get-contexts", brief(s))
	}
	return nil
}

// isControl reports whether a character is an ASCII control character.
func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// CheckMount checks the directory where a claim is mounted. It has the same name in containers, so it must not be a directory that containers use
// for other purposes.
func CheckMount(directory string) error {
	switch {
	case !path.IsAbs(directory) || path.Clean(directory) != directory:
		return fmt.Errorf("found %s, want an absolute path as short as it can be", brief(directory))
	case len(directory) > 1024 || strings.ContainsFunc(directory, isControl) || strings.Contains(directory, ":"):
		return fmt.Errorf("found %s, want at most 1024 characters without : and control characters", brief(directory))
	}
	isReserved := directory == "/" || directory == "/tmp"
	for _, reserved := range []string{"/proc", "/sys", "/dev"} {
		isReserved = isReserved || directory == reserved || strings.HasPrefix(directory, reserved+"/")
	}
	if isReserved {
		return fmt.Errorf("found %s, where containers have something else", brief(directory))
	}
	return nil
}

// CheckRunAs checks the user and group of a container, in the form UID:GID.
func CheckRunAs(s string) error {
	_, _, err := RunAs(s)
	return err
}

// RunAs reads UID:GID. The user is not root.
func RunAs(text string) (uid, gid int64, err error) {
	user, group, _ := strings.Cut(text, ":")
	uid, uidErr := strconv.ParseInt(user, 10, 64)
	gid, gidErr := strconv.ParseInt(group, 10, 64)
	isCanonical := text == fmt.Sprintf("%d:%d", uid, gid) // without signs and leading zeros
	if uidErr != nil || gidErr != nil || !isCanonical {
		return 0, 0, fmt.Errorf("found %s, want UID:GID in numbers", brief(text))
	}
	if uid == 0 {
		return 0, 0, fmt.Errorf("found %s, want a user other than root", brief(text))
	}
	if min(uid, gid) < 0 || max(uid, gid) > math.MaxInt32 {
		return 0, 0, fmt.Errorf("found %s: must be between 0 and %d, inclusive", brief(text), math.MaxInt32)
	}
	return uid, gid, nil
}

// CheckNode checks a label that a node must have.
func CheckNode(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok {
		return fmt.Errorf("found %s, want KEY=VALUE", brief(s))
	}
	return valid(s, slices.Concat(content.IsLabelKey(key), content.IsLabelValue(value)))
}

// CheckLabel checks a label of Jobs and pods. Users may not set the labels by which tilecheck and Kubernetes find them.
func CheckLabel(label string) error {
	for _, reserved := range []string{"tilecheck/", "app.kubernetes.io/name=", "batch.kubernetes.io/", "job-name=", "controller-uid="} {
		if strings.HasPrefix(label, reserved) {
			return fmt.Errorf("found %s, want no label that begins with %s", brief(label), reserved)
		}
	}
	return CheckNode(label)
}

// CheckToleration checks a toleration.
func CheckToleration(s string) error {
	_, _, _, err := Toleration(s)
	return err
}

// Toleration parses KEY[=VALUE][:EFFECT], the form of a taint in kubectl taint. The value and the effect may be "".
func Toleration(text string) (key, value, effect string, err error) {
	keyAndValue, effect, hasEffect := strings.Cut(text, ":")
	if hasEffect && !slices.Contains([]string{"NoSchedule", "PreferNoSchedule", "NoExecute"}, effect) {
		return "", "", "", fmt.Errorf("found %s, want the effect NoSchedule, PreferNoSchedule or NoExecute", brief(text))
	}
	key, value, hasValue := strings.Cut(keyAndValue, "=")
	if hasValue && value == "" {
		return "", "", "", fmt.Errorf("found %s, want a value behind =", brief(text))
	}
	return key, value, effect, valid(text, slices.Concat(content.IsLabelKey(key), content.IsLabelValue(value)))
}

// Seconds returns a time limit in seconds. The text has a form that CheckTime accepts, such as 30, 1:30:00 or 2-12.
func Seconds(limit string) (int64, error) {
	if err := CheckTime(limit); err != nil {
		return 0, err
	}
	daysText, clock, hasDays := strings.Cut(limit, "-")
	if !hasDays {
		daysText, clock = "0", limit
	}
	numberTexts := strings.Split(clock, ":")
	unit := int64(60) // the first number is minutes
	if hasDays || len(numberTexts) == 3 {
		unit = 3600 // the first number is hours
	}
	days, err := strconv.ParseInt(daysText, 10, 64)
	seconds := days * 24 * 3600
	for _, text := range numberTexts {
		number, numberErr := strconv.ParseInt(text, 10, 64)
		err = cmp.Or(err, numberErr)
		seconds += number * unit
		unit /= 60
	}
	if err == nil && seconds == 0 {
		err = errors.New("found no time, want some")
	}
	return seconds, err
}
