package containers

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEndpoint: DOCKER_HOST before DOCKER_CONTEXT before the configuration, as
// docker has them; what is named and is not there is an error.
func TestEndpoint(t *testing.T) {
	home := t.TempDir()
	context := func(name, host string, tls bool) {
		hash := sha256.Sum256([]byte(name))
		id := hex.EncodeToString(hash[:])
		write := func(path, text string) {
			path = filepath.Join(home, ".docker", path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("contexts/meta/"+id+"/meta.json", `{"Name":"`+name+`","Metadata":{},"Endpoints":{"docker":{"Host":"`+host+`","SkipTLSVerify":false}}}`)
		if tls {
			write("contexts/tls/"+id+"/docker/ca.pem", "x")
		}
		write("config.json", `{"currentContext":"there"}`)
	}
	context("there", "unix:///there.sock", false)
	context("remote", "tcp://remote:2376", true)
	context("shell", "ssh://me@remote", false)
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{}, "DOCKER_HOST=unix:///there.sock"},
		{map[string]string{"DOCKER_CONTEXT": "default"}, ""},
		{map[string]string{"DOCKER_CONTEXT": "remote"}, "DOCKER_HOST=tcp://remote:2376 DOCKER_TLS_VERIFY=1 DOCKER_CERT_PATH=docker"},
		{map[string]string{"DOCKER_HOST": "unix:///mine.sock", "DOCKER_CONTEXT": "remote"}, ""},
		{map[string]string{"DOCKER_CONTEXT": "gone"}, `DOCKER_CONTEXT names the Docker context "gone", which there is not`},
		{map[string]string{"DOCKER_CONTEXT": "shell"}, "engines behind ssh are not reached from here"},
		{map[string]string{"DOCKER_HOST": "/var/run/docker.sock"}, "want an address"},
		{map[string]string{"DOCKER_CONFIG": filepath.Join(home, "none")}, ""},
	} {
		test.env["HOME"] = home
		env, err := dockerEnvironment(func(name string) (string, bool) { v, ok := test.env[name]; return v, ok })
		var got string
		for _, k := range []string{"DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"} {
			if v, ok := env[k]; ok {
				if k == "DOCKER_CERT_PATH" {
					v = filepath.Base(v)
				}
				got = strings.TrimSpace(got + " " + k + "=" + v)
			}
		}
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%v: got %q, want %q", test.env, got, test.want)
		}
	}
}

// TestNowhere: an engine that is named and not there is not replaced by another.
func TestNowhere(t *testing.T) {
	for _, host := range []string{"unix:///nonexistent", "tcp://127.0.0.1:1"} {
		t.Setenv("DOCKER_HOST", host)
		start := time.Now()
		d, err := Connect(t.Context())
		if err == nil {
			_ = d.Close()
			t.Fatalf("%s: connected to %s", host, d.client.DaemonHost())
		}
		if !strings.Contains(err.Error(), host) || time.Since(start) > connectLimit+time.Second {
			t.Errorf("%s: %v after %v", host, err, time.Since(start))
		}
	}
}
