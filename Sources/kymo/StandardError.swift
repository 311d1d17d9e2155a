import ArgumentParser

/// Messages for people: standard output carries data only.
enum StandardError {
    /// Writes `text` as it is.
    static func write(_ text: String) {
        StandardDescriptors.write(Array(text.utf8), to: 2)
    }

    /// Ends the command with a message and one of the codes of sysexits.h: throw the result.
    static func exit(_ message: String, code: Int32) -> ExitCode {
        write("kymo: \(message)\n")
        return ExitCode(code)
    }
}
