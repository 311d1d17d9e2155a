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

/// Seconds as people read them.
enum TimeText {
    /// `0.4 s`, `12 s`, `3 min 20 s`.
    static func of(_ seconds: Double) -> String {
        if seconds < 10 { return "\(Double(Int(seconds * 10)) / 10) s" }
        let whole = Int(seconds)
        return whole < 60 ? "\(whole) s" : "\(whole / 60) min \(whole % 60) s"
    }
}
