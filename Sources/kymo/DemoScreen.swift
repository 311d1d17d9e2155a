import Glibc
import Synchronization

/// Where a demonstration is shown: on a terminal, its picture is drawn again and again in one place.
final class DemoScreen: Sendable {
    /// Whether standard output is a terminal.
    let isTerminal = isatty(STDOUT_FILENO) == 1
    /// Lines of the picture that is there.
    private let drawn = Mutex(0)

    /// Draws the picture in place of the former one, on a terminal.
    func draw(_ lines: [String]) {
        guard isTerminal else { return }
        drawn.withLock { count in
            // The terminal may have gone; the end says so.
            try? write(DemoScreen.picture(lines, over: count))
            count = lines.count
        }
    }

    /// Draws the last picture.
    func finish(_ lines: [String]) throws {
        try write(DemoScreen.picture(lines, over: drawn.withLock { $0 }))
    }

    /// Writes `text`, which moves the cursor.
    func write(_ text: String) throws { try StandardOutput.draw(Array(text.utf8)) }

    private static func picture(_ lines: [String], over count: Int) -> String {
        let up = count > 0 ? "\u{1B}[\(count)A" : ""
        return up + lines.map { $0 + (count > 0 ? "\u{1B}[K\n" : "\n") }.joined()
    }
}
