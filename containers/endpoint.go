package containers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/moby/moby/client"
)

// dockerEnvironment returns the environment variables that lead to the engine that
// the docker command would use, if they are not set yet. It translates a Docker
// context into DOCKER_HOST and related variables. DOCKER_HOST takes precedence over
// DOCKER_CONTEXT, and that over the current context of docker's configuration.
//
// Source: docker's documentation, "Docker contexts", and its layout of the files
// below ~/.docker/contexts.
func dockerEnvironment(lookup func(string) (string, bool)) (map[string]string, error) {
	if host, _ := lookup("DOCKER_HOST"); host != "" {
		return nil, checkHost(host, "DOCKER_HOST")
	}
	dir := configDir(lookup)
	name, isSet := lookup("DOCKER_CONTEXT")
	source := "DOCKER_CONTEXT"
	if !isSet || name == "" {
		source = filepath.Join(dir, "config.json")
		name = currentContext(source)
	}
	if name == "" || name == "default" || dir == "" {
		return nil, nil
	}
	hash := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(hash[:])
	data, err := os.ReadFile(filepath.Join(dir, "contexts", "meta", id, "meta.json"))
	if err != nil {
		return nil, failure("%s names the Docker context %q, which there is not; `docker context ls` lists those that there are", source, name)
	}
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := json.Unmarshal(data, &meta); err != nil || meta.Endpoints["docker"].Host == "" {
		return nil, failure("the Docker context %q names no engine; `docker context inspect %s` shows it", name, name)
	}
	docker := meta.Endpoints["docker"]
	env := map[string]string{"DOCKER_HOST": docker.Host}
	if certs := filepath.Join(dir, "contexts", "tls", id, "docker"); isDir(certs) {
		env["DOCKER_CERT_PATH"] = certs
		if !docker.SkipTLSVerify {
			env["DOCKER_TLS_VERIFY"] = "1"
		}
	}
	return env, checkHost(docker.Host, fmt.Sprintf("the Docker context %q", name))
}

// configDir returns the directory of docker's configuration; empty if the environment does not determine it.
func configDir(lookup func(string) (string, bool)) string {
	if dir, _ := lookup("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	if home, _ := lookup("HOME"); home != "" {
		return filepath.Join(home, ".docker")
	}
	if home, _ := lookup("USERPROFILE"); home != "" {
		return filepath.Join(home, ".docker")
	}
	return ""
}

// currentContext returns the context in docker's configuration, empty for the
// default context. Like docker, it ignores a file that it cannot read.
func currentContext(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	var config struct{ CurrentContext string }
	if json.Unmarshal(data, &config) != nil {
		return ""
	}
	return config.CurrentContext
}

// isDir reports whether a path is an existing directory.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkHost returns an error if this program cannot connect to the address of an engine. where says in messages what has the address.
func checkHost(host, where string) error {
	scheme, _, ok := strings.Cut(host, "://")
	switch {
	case !ok:
		return failure("%s says %q, want an address such as unix:///var/run/docker.sock or tcp://host:2376", where, host)
	case scheme == "ssh":
		return failure("%s says %q: engines behind ssh are not reached from here; forward the socket, as with `ssh -L`, and name that", where, host)
	}
	if _, err := client.ParseHostURL(host); err != nil {
		return failure("%s says %q: %v", where, host, err)
	}
	return nil
}

// checkReachable returns an error if the engine at host, the value of DOCKER_HOST, does not answer.
func checkReachable(ctx context.Context, host string) error {
	if err := checkHost(host, "DOCKER_HOST"); err != nil {
		return err
	}
	dockerClient, err := client.New(client.FromEnv)
	if err != nil {
		return failure("DOCKER_HOST says %q: %v", host, err)
	}
	defer dockerClient.Close()
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	if _, err := dockerClient.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return failure("Docker does not answer at %s, which DOCKER_HOST or the Docker context names (%v)", host, err)
	}
	return nil
}
