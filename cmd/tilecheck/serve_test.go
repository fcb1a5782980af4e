package main

import (
	"bytes"
	"net"
	"strings"
	"testing"
)

// A port that is taken is an error that says the way out where the command line names it; the default moves on.
func TestServeListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var notes bytes.Buffer
	env := &environment{system: system{stderr: &notes}}
	_, err = (&serveCmd{Listen: taken.Addr().String()}).listen(t.Context(), env)
	if err == nil || !strings.Contains(err.Error(), "another program has this port, want another one, or 127.0.0.1:0 for any free one") {
		t.Errorf("error %v", err)
	}
	first, err := (&serveCmd{}).listen(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := (&serveCmd{}).listen(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if first.Addr().String() == second.Addr().String() {
		t.Errorf("both listen on %v", first.Addr())
	}
	if want := "note: another program has port 8048, so the page is at port "; !strings.Contains(notes.String(), want) {
		t.Errorf("printed %q, want %q", notes.String(), want)
	}
}

// What is printed is an address that a browser can open.
func TestServeAddress(t *testing.T) {
	for _, tt := range []struct {
		ip, host   string
		everywhere bool
	}{{"::", "localhost", true}, {"0.0.0.0", "localhost", true}, {"127.0.0.1", "127.0.0.1", false}, {"::1", "::1", false}} {
		host, port, everywhere := addressOf(&net.TCPAddr{IP: net.ParseIP(tt.ip), Port: 8191})
		if host != tt.host || port != "8191" || everywhere != tt.everywhere {
			t.Errorf("%s: %s %s %v", tt.ip, host, port, everywhere)
		}
	}
}
