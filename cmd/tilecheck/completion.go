package main

import (
	"fmt"
	"os"
	"path/filepath"

	"tilecheck/internal/quote"
)

// completionCmd prints the code with which a shell completes command lines, and nothing else, because the shell
// executes the output.
type completionCmd struct {
	Shell string `arg:"" optional:"" help:"bash, zsh or fish (default: that of the environment variable SHELL)." enum:"bash,zsh,fish," default:""`
	Code  bool   `short:"c" hidden:"" help:"Has no effect: the code is always printed."`
}

// Run prints the code that turns completion on in a shell. Without an argument, it is the shell of the environment variable SHELL.
func (c *completionCmd) Run(env *environment) error {
	shell := c.Shell
	if shell == "" {
		shell = filepath.Base(env.getenv("SHELL"))
	}
	program, err := programName(env.getenv("PATH"))
	if err != nil {
		return err
	}
	// The command is quoted twice: the shell parses it when it reads this code, and again when it completes a word.
	program = quote.Word(program)
	shellCode := "complete -o default -o bashdefault -C " + quote.Word(program) + " tilecheck\n"
	switch shell {
	case "bash":
		_, err = fmt.Fprint(env.stdout, "# For good: put  source <(tilecheck completion bash)  into ~/.bashrc\n", shellCode)
	case "zsh":
		_, err = fmt.Fprint(env.stdout, "# For good: put  source <(tilecheck completion zsh)  into ~/.zshrc\n",
			"autoload -U +X bashcompinit && bashcompinit\n", shellCode)
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

// programName returns the command that runs this program. It is "tilecheck" if a shell with the given PATH finds this program, and the path of the
// executable otherwise.
func programName(path string) (string, error) {
	file, err := os.Executable()
	if err != nil {
		return "", err
	}
	thisProgram, err := os.Stat(file)
	if err != nil {
		return file, nil
	}
	installed := firstOnPath("tilecheck", path)
	if installed != nil && os.SameFile(thisProgram, installed) {
		return "tilecheck", nil
	}
	return file, nil
}

// firstOnPath returns the first file with a name in the directories of path, a list like PATH; nil if there is none.
func firstOnPath(name, path string) os.FileInfo {
	for _, dir := range filepath.SplitList(path) {
		if found, err := os.Stat(filepath.Join(dir, name)); err == nil && !found.IsDir() {
			return found
		}
	}
	return nil
}
