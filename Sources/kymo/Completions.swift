import ArgumentParser

/// `kymo completions`: what a shell needs to complete kymo's commands and options.
struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print what bash, zsh or fish need to complete kymo's commands and options.",
        discussion: """
            The Debian package installs them. Without it, for the shell in use:
              bash: kymo completions bash > ~/.local/share/bash-completion/completions/kymo
              zsh:  kymo completions zsh > ~/.zfunc/_kymo    (with fpath+=~/.zfunc before compinit in ~/.zshrc)
              fish: kymo completions fish > ~/.config/fish/completions/kymo.fish

            Example: kymo completions bash > kymo.bash
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish

        fileprivate var generated: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() throws {
        try StandardOutput.write(data: Array((Kymo.completionScript(for: shell.generated) + "\n").utf8))
    }
}
