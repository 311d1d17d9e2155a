package import KymographCore
import KymographTemplates

/// Where a setting's value was written, for messages.
package struct SettingOrigin: Hashable, Sendable {
    /// The configuration file's name, `environment` or `command line`.
    package var file: String
    /// Place in the file; ``SourcePosition/start`` for the other two.
    package var position: SourcePosition
    /// How the user called the setting: `output.format`, `KYMO_OUTPUT_FORMAT` or `--format`.
    package var subject: String

    /// Makes an origin.
    package init(file: String, position: SourcePosition, subject: String) {
        self.file = file
        self.position = position
        self.subject = subject
    }

    /// The place as people write it: `kymo.yaml:3:9`, `KYMO_WINDOW` or `--window`.
    package var place: String {
        [Self.environmentName, Self.commandLineName].contains(file)
            ? subject : "\(file):\(position.line):\(position.column)"
    }

    private static let environmentName = "environment"
    private static let commandLineName = "command line"

    /// The environment variable `name`.
    static func environment(_ name: String) -> SettingOrigin {
        SettingOrigin(file: environmentName, position: .start, subject: name)
    }

    /// The flag `name`, such as `--window`.
    static func commandLine(_ name: String) -> SettingOrigin {
        SettingOrigin(file: commandLineName, position: .start, subject: name)
    }
}

/// A value as it was written, before it is read.
struct SettingText {
    var text: String
    var origin: SettingOrigin
}

/// Everything noticed while settings are read, from every layer, in order.
struct ConfigurationLog {
    private(set) var all: [Diagnostic] = []

    mutating func add(
        _ severity: Diagnostic.Severity, _ origin: SettingOrigin, _ message: String, advice: String = ""
    ) {
        all.append(
            Diagnostic(
                severity, file: origin.file, position: origin.position, message: "\(origin.subject): \(message)",
                advice: advice))
    }

    mutating func add(_ diagnostic: Diagnostic) {
        all.append(diagnostic)
    }
}
