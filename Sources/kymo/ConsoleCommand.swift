import ArgumentParser
import Kymograph

/// `kymo console`: the pages that a running instance serves to browsers.
struct ConsoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console", abstract: "Log in to the console of a running instance.",
        discussion: """
            An instance with console.enabled serves the console at the address of http.admin.

            Example: kymo console login --data /var/lib/kymo
            """,
        subcommands: [ConsoleLoginCommand.self])
}

/// `kymo console login`.
struct ConsoleLoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Print a code that logs one browser in, once, within two minutes.",
        discussion: """
            The role says what the browser may do: 'view' sees counts, health and dead letters without what identifies \
            anybody; 'operate' also reveals, replays and discards dead letters; 'edit' also saves mappings, and is \
            given only with console.edit. A session lasts until it is unused for an hour, for twelve hours at most, or \
            until the instance ends.

            It asks the instance by the socket control.sock in its data directory, which only the directory's owner \
            can use.

            Example: kymo console login --role operate --data /var/lib/kymo
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("What the browser may do.", valueName: "view|operate|edit"))
    var role = ConsoleRole.view

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    func run() throws {
        let directory = try store.directory(of: try store.settings())
        var request = ControlRequest(.consoleLogin)
        request.role = role.rawValue
        guard let answer = ControlClient.ask(request, directory) else { throw Top.noInstance(directory) }
        guard let login = answer.login else {
            throw StandardError.exit(
                answer.error ?? "this instance is of a version that has no console: restart it",
                code: ExitStatus.failure)
        }
        switch format {
        case .text: try StandardOutput.write(Array(Self.text(login).utf8))
        case .json: try StandardOutput.write(try PrettyText.pretty(login))
        }
    }

    private static func text(_ login: ConsoleLogin) -> String {
        """
        Open  \(login.address)#login=\(login.code)
        or enter the code \(login.code) at \(login.address)
        It is good once, for \(login.seconds) s.

        """
    }
}

extension ConsoleRole: ExpressibleByArgument {}
