import ArgumentParser
import Kymograph
import KymographCore
import KymographTemplates

/// Maps messages, writes what comes out, and counts.
struct MessageMapping {
    let set: MappingSet
    let templates: [Int]
    let context: SourceContext
    let options: ObservationOptions
    let explanation: Explanation?
    /// Whether there is a line for each message, so that their numbers are worth telling.
    var hasLines = false

    private var messages = 0
    private var measurements = 0
    private var observations = 0
    /// Messages of which something was rejected, or that gave nothing.
    private var failed = 0
    private var reasons: [Rejection: Int] = [:]
    /// Why standard output takes no more.
    private var failure: (any Error)?

    init(
        set: MappingSet, templates: [Int], context: SourceContext, options: ObservationOptions,
        explanation: Explanation?
    ) {
        (self.set, self.templates, self.context) = (set, templates, context)
        (self.options, self.explanation) = (options, explanation)
    }

    /// Maps `message` and writes a document.
    mutating func writeDocument(_ message: InputMessage) {
        guard let preview = preview(of: message) else { return }
        write(PrettyJSON.format(preview.json))
    }

    /// Maps `message` and writes a line.
    mutating func writeLine(_ message: InputMessage) {
        if explanation != nil { StandardError.write("\(message.file):\(message.line):\n") }
        guard let preview = preview(of: message) else { return }
        write(preview.line(of: message))
    }

    /// Tells what was counted.
    ///
    /// - Throws: the exit status when something was rejected, or could not be written.
    func finish() throws {
        if let failure { throw failure }
        if hasLines { StandardError.write("kymo: \(summary)\n") }
        if failed > 0 || messages == 0 { throw ExitCode(ExitStatus.dataError) }
    }

    private var summary: String {
        let outcome = "\(counted(measurements, "measurement")), \(counted(observations, "resource"))"
        guard failed > 0 else { return "\(counted(messages, "message")) mapped: \(outcome)" }
        let sorted = reasons.sorted { ($1.value, $0.key.name) < ($0.value, $1.key.name) }
        let list = sorted.map { "\($0.key.name) \($0.value)" }.joined(separator: ", ")
        return "\(messages - failed) of \(counted(messages, "message")) mapped: \(outcome); \(failed) rejected"
            + (list.isEmpty ? "" : " (\(list))")
    }

    private func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// What becomes of `message`; nil of a file of hexadecimal digits that has something else in it, which counts as
    /// rejected, and is told.
    private mutating func preview(of message: InputMessage) -> PayloadPreview? {
        let preview: PayloadPreview
        do throws(MessageInputError) {
            preview = message.isTooLong ? PayloadPreview(tooLong: message) : try mapped(message)
        } catch {
            StandardError.write("kymo: \(error.message)\n")
            messages += 1
            failed += 1
            return nil
        }
        count(preview)
        return preview
    }

    private func mapped(_ message: InputMessage) throws(MessageInputError) -> PayloadPreview {
        let payload = try MessageFiles.payload(of: message)
        explanation?.write(payload)
        return PayloadPreview(
            payload: payload, set: set, templates: templates, context: context, received: WallClock.now(),
            options: options)
    }

    private mutating func count(_ preview: PayloadPreview) {
        messages += 1
        measurements += preview.measurements.count
        observations += preview.observations.count + preview.resources.count
        if !preview.isWhole { failed += 1 }
        for rejected in preview.rejected { reasons[rejected.reason, default: 0] += 1 }
    }

    /// Standard output that takes no more ends the command once the rest has been told.
    private mutating func write(_ bytes: [UInt8]) {
        guard failure == nil else { return }
        do { try StandardOutput.write(bytes) } catch { failure = error }
    }
}
