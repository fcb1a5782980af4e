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

// Kubernetes has further settings for a Kubernetes cluster. The names are
// checked by the functions with which its API server checks them.
type Kubernetes struct {
	Image       string   `json:"image,omitzero"`       // in which the staged program runs
	Claim       string   `json:"claim,omitzero"`       // the persistent volume claim that has the directory
	Mount       string   `json:"mount,omitzero"`       // where the root of the claim is here, absolute
	Namespace   string   `json:"namespace,omitzero"`   //
	Context     string   `json:"context,omitzero"`     // of kubectl; no entry of tilecheck.yaml: it chooses whose credentials are used
	Parallelism int      `json:"parallelism,omitzero"` // pods at a time
	RunAs       string   `json:"runAs,omitzero"`       // UID:GID
	PullSecret  string   `json:"pullSecret,omitzero"`
	Priority    string   `json:"priority,omitzero"`    // a priority class
	Labels      []string `json:"labels,omitzero"`      // KEY=VALUE
	Nodes       []string `json:"nodes,omitzero"`       // labels that a node must have, KEY=VALUE
	Tolerations []string `json:"tolerations,omitzero"` // KEY[=VALUE][:EFFECT]
}

// over is Over of these settings. Lists add up.
func (k Kubernetes) over(t Kubernetes) Kubernetes {
	return Kubernetes{
		Image:       cmp.Or(k.Image, t.Image),
		Claim:       cmp.Or(k.Claim, t.Claim),
		Mount:       cmp.Or(k.Mount, t.Mount),
		Namespace:   cmp.Or(k.Namespace, t.Namespace),
		Context:     cmp.Or(k.Context, t.Context),
		Parallelism: cmp.Or(k.Parallelism, t.Parallelism),
		RunAs:       cmp.Or(k.RunAs, t.RunAs),
		PullSecret:  cmp.Or(k.PullSecret, t.PullSecret),
		Priority:    cmp.Or(k.Priority, t.Priority),
		Labels:      slices.Concat(t.Labels, k.Labels),
		Nodes:       slices.Concat(t.Nodes, k.Nodes),
		Tolerations: slices.Concat(t.Tolerations, k.Tolerations),
	}
}

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
		for _, e := range list.entries {
			err = cmp.Or(err, list.check(e))
		}
	}
	return err
}

// valid makes an error of what a function of the API says.
func valid(s string, problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("found %s: %s", brief(s), problems[0])
}

// brief quotes what may be too long to show.
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

// CheckContext checks the name of a context of kubectl, which people choose freely.
func CheckContext(s string) error {
	if s == "" || len(s) > maxText || strings.HasPrefix(s, "-") || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("found the context %s, want a name of kubectl config get-contexts", brief(s))
	}
	return nil
}

// CheckMount checks the directory that a claim is mounted at. It has the same name
// in containers, where some names are taken.
func CheckMount(s string) error {
	switch {
	case !path.IsAbs(s) || path.Clean(s) != s:
		return fmt.Errorf("found %s, want an absolute path as short as it can be", brief(s))
	case len(s) > 1024 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == ':' }):
		return fmt.Errorf("found %s, want at most 1024 characters without : and control characters", brief(s))
	}
	for _, taken := range []string{"/", "/tmp", "/proc", "/sys", "/dev"} {
		if s == taken || taken != "/" && taken != "/tmp" && strings.HasPrefix(s, taken+"/") {
			return fmt.Errorf("found %s, where containers have something else", brief(s))
		}
	}
	return nil
}

// CheckRunAs checks the user that a container runs as.
func CheckRunAs(s string) error {
	_, _, err := RunAs(s)
	return err
}

// RunAs reads UID:GID. The user is not root.
func RunAs(s string) (uid, gid int64, err error) {
	user, group, both := strings.Cut(s, ":")
	uid, err1 := strconv.ParseInt(user, 10, 64)
	gid, err2 := strconv.ParseInt(group, 10, 64)
	if !both || err1 != nil || err2 != nil || user != strconv.FormatInt(uid, 10) || group != strconv.FormatInt(gid, 10) {
		return 0, 0, fmt.Errorf("found %s, want UID:GID in numbers", brief(s))
	}
	if uid == 0 {
		return 0, 0, fmt.Errorf("found %s, want a user other than root", brief(s))
	}
	if min(uid, gid) < 0 || max(uid, gid) > math.MaxInt32 {
		return 0, 0, fmt.Errorf("found %s: must be between 0 and %d, inclusive", brief(s), math.MaxInt32)
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

// CheckLabel checks a label of jobs and pods. Those by which they are found are not for others.
func CheckLabel(s string) error {
	for _, ours := range []string{"tilecheck/", "app.kubernetes.io/name=", "batch.kubernetes.io/", "job-name=", "controller-uid="} {
		if strings.HasPrefix(s, ours) {
			return fmt.Errorf("found %s, want no label that begins with %s", brief(s), ours)
		}
	}
	return CheckNode(s)
}

// CheckToleration checks a toleration.
func CheckToleration(s string) error {
	_, _, _, err := Toleration(s)
	return err
}

// Toleration reads KEY[=VALUE][:EFFECT], as kubectl taint writes a taint.
func Toleration(s string) (key, value, effect string, err error) {
	rest, effect, given := strings.Cut(s, ":")
	if given && !slices.Contains([]string{"NoSchedule", "PreferNoSchedule", "NoExecute"}, effect) {
		return "", "", "", fmt.Errorf("found %s, want the effect NoSchedule, PreferNoSchedule or NoExecute", brief(s))
	}
	key, value, given = strings.Cut(rest, "=")
	if given && value == "" {
		return "", "", "", fmt.Errorf("found %s, want a value behind =", brief(s))
	}
	return key, value, effect, valid(s, slices.Concat(content.IsLabelKey(key), content.IsLabelValue(value)))
}

// Seconds reads a limit of time as CheckTime takes it.
func Seconds(s string) (int64, error) {
	if err := CheckTime(s); err != nil {
		return 0, err
	}
	days, rest, long := strings.Cut(s, "-")
	if !long {
		days, rest = "0", s
	}
	parts := strings.Split(rest, ":")
	// Minutes come first, or hours behind days and where there are three.
	unit := int64(60)
	if long || len(parts) == 3 {
		unit = 3600
	}
	d, err := strconv.ParseInt(days, 10, 64)
	total := d * 24 * 3600
	for _, p := range parts {
		n, e := strconv.ParseInt(p, 10, 64)
		err = cmp.Or(err, e)
		total += n * unit
		unit /= 60
	}
	if err == nil && total == 0 {
		err = errors.New("found no time, want some")
	}
	return total, err
}
