package kubetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	authv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tilecheck/runner"
)

// call is a call of kubectl.
type call struct {
	words []string
	flags map[string]string
}

// parse reads the words of kubectl that submit uses.
func parse(args []string) call {
	c := call{flags: make(map[string]string)}
	for _, a := range args {
		if name, value, _ := strings.Cut(a, "="); strings.HasPrefix(a, "--") {
			c.flags[name] = value
		} else {
			c.words = append(c.words, a)
		}
	}
	return c
}

// Kubectl says what kubectl would, and returns its exit code.
func (c *Cluster) Kubectl(args []string, stdout, stderr io.Writer) int {
	k := parse(args)
	fail := func(format string, args ...any) int {
		fmt.Fprintf(stderr, format+"\n", args...)
		return 1
	}
	server := func(s *metav1.Status, context string) int {
		return fail("Error from server (%s): %s%s", s.Reason, context, s.Message)
	}
	print := func(x any) int {
		text, err := json.MarshalIndent(x, "", "    ")
		if err != nil {
			return fail("error: %v", err)
		}
		fmt.Fprintf(stdout, "%s\n", text)
		return 0
	}
	verb := strings.Join(k.words[:min(2, len(k.words))], " ")
	switch verb {
	case "config current-context":
		fmt.Fprintln(stdout, "test")
		return 0
	case "config view":
		return 0 // no namespace
	case "auth can-i":
		if s := c.authorized(); s != nil {
			return server(s, "")
		}
		if c.NoLeave {
			fmt.Fprintln(stdout, "no")
			return 1
		}
		fmt.Fprintln(stdout, "yes")
		return 0
	case "create":
		text, err := os.ReadFile(k.flags["--filename"])
		if err != nil {
			return fail("error: %v", err)
		}
		j, refused := c.create(text)
		if refused != nil {
			return server(refused, fmt.Sprintf("error when creating %q: ", k.flags["--filename"]))
		}
		return print(j)
	case "get jobs.v1.batch":
		if len(k.words) == 3 {
			_, refused := c.get(k.words[2])
			if refused != nil && refused.Reason == metav1.StatusReasonNotFound {
				return 0
			} else if refused != nil {
				return server(refused, "")
			}
			fmt.Fprintf(stdout, "job.batch/%s\n", k.words[2])
			return 0
		}
		list, refused := c.listJobs(k.flags["--selector"])
		if refused != nil {
			return server(refused, "")
		}
		return print(list)
	case "get pods":
		list, refused := c.listPods(k.flags["--selector"], k.flags["--field-selector"])
		if refused != nil {
			return server(refused, "")
		}
		return print(list)
	case "delete jobs.v1.batch":
		for _, name := range k.words[2:] {
			if refused := c.delete(name); refused != nil && refused.Reason != metav1.StatusReasonNotFound {
				return server(refused, "")
			}
		}
		return 0
	default:
		return fail("error: unknown command %q", verb)
	}
}

func (c *Cluster) authorized() *metav1.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.request("authorize")
}

// Commander returns the double as a tool.
func (c *Cluster) Commander() runner.Commander { return double{c} }

type double struct{ *Cluster }

// Where implements runner.Commander.
func (double) Where() string { return "double of kubectl" }

// Run implements runner.Commander.
func (d double) Run(ctx context.Context, command runner.Command) (runner.Exit, error) {
	return runner.Exit{Code: d.Kubectl(command.Args, command.Stdout, command.Stderr)}, ctx.Err()
}

// Serve has the cluster answer HTTP, as much as kubectl asks for, and returns a
// kubeconfig.
func (c *Cluster) Serve(t testing.TB) (kubeconfig string) {
	answer := func(w http.ResponseWriter, x any, refused *metav1.Status) {
		w.Header().Set("Content-Type", "application/json")
		if refused != nil {
			w.WriteHeader(int(refused.Code))
			x = refused
		}
		_ = json.NewEncoder(w).Encode(x)
	}
	resources := func(group string, kinds ...string) func(http.ResponseWriter, *http.Request) {
		list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: group}
		for i := 0; i < len(kinds); i += 2 {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: kinds[i], SingularName: strings.ToLower(kinds[i+1]), Kind: kinds[i+1], Namespaced: true, Verbs: metav1.Verbs{"create", "delete", "get", "list"},
			})
		}
		return func(w http.ResponseWriter, _ *http.Request) { answer(w, list, nil) }
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}, nil)
	})
	mux.HandleFunc("GET /apis", func(w http.ResponseWriter, _ *http.Request) {
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}}
		for _, name := range []string{"batch", "authorization.k8s.io"} {
			v := metav1.GroupVersionForDiscovery{GroupVersion: name + "/v1", Version: "v1"}
			list.Groups = append(list.Groups, metav1.APIGroup{Name: name, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
		}
		answer(w, list, nil)
	})
	mux.HandleFunc("GET /api/v1", resources("v1", "pods", "Pod"))
	mux.HandleFunc("GET /apis/batch/v1", resources("batch/v1", "jobs", "Job"))
	mux.HandleFunc("GET /apis/authorization.k8s.io/v1", resources("authorization.k8s.io/v1"))
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", func(w http.ResponseWriter, r *http.Request) {
		review := authv1.SelfSubjectAccessReview{TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"}}
		review.Status.Allowed = !c.NoLeave
		answer(w, review, c.authorized())
	})
	const jobs = "/apis/batch/v1/namespaces/{namespace}/jobs"
	mux.HandleFunc("POST "+jobs, func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			answer(w, nil, refused(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err))
			return
		}
		j, s := c.create(text)
		answer(w, j, s)
	})
	mux.HandleFunc("GET "+jobs, func(w http.ResponseWriter, r *http.Request) {
		list, s := c.listJobs(r.FormValue("labelSelector"))
		answer(w, list, s)
	})
	mux.HandleFunc("GET "+jobs+"/{name}", func(w http.ResponseWriter, r *http.Request) {
		j, s := c.get(r.PathValue("name"))
		answer(w, j, s)
	})
	mux.HandleFunc("DELETE "+jobs+"/{name}", func(w http.ResponseWriter, r *http.Request) {
		done := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess}
		answer(w, done, c.delete(r.PathValue("name")))
	})
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/pods", func(w http.ResponseWriter, r *http.Request) {
		list, s := c.listPods(r.FormValue("labelSelector"), r.FormValue("fieldSelector"))
		answer(w, list, s)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"test",
"contexts":[{"name":"test","context":{"cluster":"test","user":"test"}}],
"clusters":[{"name":"test","cluster":{"server":%q}}],"users":[{"name":"test","user":{"token":"none"}}]}
`, server.URL)
}

// doubleURL is where a process that stands for kubectl finds its cluster.
const doubleURL = "TILECHECK_KUBETEST"

// said is what the double says to a process.
type said struct {
	Stdout, Stderr string
	Code           int
}

// ServeDouble lets processes be kubectl, and returns the variable that they need in
// their environment.
func (c *Cluster) ServeDouble(t testing.TB) (env string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args []string
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var stdout, stderr strings.Builder
		code := c.Kubectl(args, &stdout, &stderr)
		_ = json.NewEncoder(w).Encode(said{stdout.String(), stderr.String(), code})
	}))
	t.Cleanup(server.Close)
	return doubleURL + "=" + server.URL
}

// Double is the process that stands for kubectl. It returns its exit code.
func Double(args []string) int {
	text, err := json.Marshal(args)
	if err == nil {
		var answer *http.Response
		if answer, err = http.Post(os.Getenv(doubleURL), "application/json", strings.NewReader(string(text))); err == nil {
			defer answer.Body.Close()
			var s said
			if err = json.NewDecoder(answer.Body).Decode(&s); err == nil {
				_, _ = os.Stdout.WriteString(s.Stdout)
				_, _ = os.Stderr.WriteString(s.Stderr)
				return s.Code
			}
		}
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 1
}
