package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// completionCmd prints what a shell runs to complete command lines, and nothing
// else: its output is for source.
type completionCmd struct {
	Shell string `arg:"" optional:"" help:"bash, zsh or fish (default: that of the environment variable SHELL)." enum:"bash,zsh,fish," default:""`
	Code  bool   `short:"c" hidden:"" help:"Has no effect: the code is always printed."`
}

// Run prints the script.
func (c *completionCmd) Run(env *world) error {
	shell := c.Shell
	if shell == "" {
		shell = filepath.Base(env.getenv("SHELL"))
	}
	program, err := programName()
	if err != nil {
		return err
	}
	// The shell reads the command twice: now, and when it completes.
	program = quoted(program)
	complete := "complete -o default -o bashdefault -C " + quoted(program) + " tilecheck\n"
	switch shell {
	case "bash":
		_, err = fmt.Fprint(env.stdout, "# For good: put  source <(tilecheck completion bash)  into ~/.bashrc\n", complete)
	case "zsh":
		_, err = fmt.Fprint(env.stdout, "# For good: put  source <(tilecheck completion zsh)  into ~/.zshrc\n",
			"autoload -U +X bashcompinit && bashcompinit\n", complete)
	case "fish":
		_, err = fmt.Fprintf(env.stdout, `# For good: put  tilecheck completion fish | source  into ~/.config/fish/config.fish
function __complete_tilecheck
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    %s
end
complete -f -c tilecheck -a "(__complete_tilecheck)"
`, program)
	default:
		return usageError("the shell is %q, want bash, zsh or fish, such as: tilecheck completion bash", shell)
	}
	return err
}

// programName is what a shell calls this program: tilecheck if that finds it, so that a package can be installed anywhere, or else its path.
func programName() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath("tilecheck")
	if err != nil {
		return program, nil
	}
	one, err1 := os.Stat(program)
	other, err2 := os.Stat(found)
	if err1 == nil && err2 == nil && os.SameFile(one, other) {
		return "tilecheck", nil
	}
	return program, nil
}
