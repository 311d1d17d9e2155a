import ArgumentParser
import KymographCore

/// Messages for people: standard output carries data only.
enum StandardError {
    /// Writes `text`. Parts of it come from devices, servers and files: control characters are escaped.
    static func write(_ text: String) { draw(PrintableText.lines(text)) }

    /// Writes `text`, with a line feed after it and none within it.
    static func writeLine(_ text: String) { draw(PrintableText.line(text) + "\n") }

    /// Writes what moves the cursor of a terminal.
    static func draw(_ text: String) { StandardDescriptors.write(Array(text.utf8), to: 2) }

    /// Ends the command with a message and one of the codes of sysexits.h: throw the result.
    static func exit(_ message: String, code: Int32) -> ExitCode {
        write("kymo: \(message)\n")
        return ExitCode(code)
    }
}
