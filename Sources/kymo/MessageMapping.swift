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
    /// Say whose devices are; nil without a map.
    let patients: PatientRules?
    /// Say what is taken.
    let rules: RuleDecider
    /// Say what sinks get.
    let resources: EntryRules
    let explanation: Explanation?
    /// Whether only readings are written, each as an event.
    let writesEvents: Bool
    /// Whether there is a line for each message, so that their numbers are worth telling.
    var hasLines = false

    private var messages = 0
    private var measurements = 0
    private var observations = 0
    /// Messages of which something was rejected, or that gave nothing.
    private var failed = 0
    private var reasons: [Rejection: Int] = [:]
    /// What is wrong with the first message of these.
    private var complaint: String?
    /// Why standard output takes no more.
    private var failure: (any Error)?

    init(
        set: MappingSet, templates: [Int], context: SourceContext, options: ObservationOptions,
        patients: PatientRules?, rules: RuleDecider, resources: EntryRules, explanation: Explanation?,
        writesEvents: Bool
    ) {
        self.resources = resources
        rules.isTraced = explanation != nil
        (self.set, self.templates, self.context) = (set, templates, context)
        (self.options, self.patients, self.rules, self.explanation) = (options, patients, rules, explanation)
        self.writesEvents = writesEvents
    }

    /// Maps `message` and writes a document.
    mutating func writeDocument(_ message: InputMessage) {
        guard let preview = preview(of: message) else { return }
        write(PrettyJSON.format(preview.json))
    }

    /// Maps `message` and writes a line.
    mutating func writeLine(_ message: InputMessage) {
        if let explanation, !explanation.isJSON { StandardError.writeLine("\(message.file):\(message.line):") }
        guard let preview = preview(of: message) else { return }
        write(writesEvents ? preview.events : preview.line(of: message))
    }

    /// Tells what was counted.
    ///
    /// - Throws: the exit status when something was rejected, or could not be written.
    func finish() throws {
        if let failure { throw failure }
        if hasLines {
            StandardError.write("kymo: \(summary)\n")
        } else if let complaint {
            StandardError.writeLine("kymo: \(complaint)")
        }
        if failed > 0 || messages == 0 { throw ExitCode(ExitStatus.dataError) }
    }

    private var summary: String {
        let outcome = "\(CountText.of(measurements, "measurement")), \(CountText.of(observations, "resource"))"
        guard failed > 0 else { return "\(CountText.of(messages, "message")) mapped: \(outcome)" }
        let sorted = reasons.sorted { ($1.value, $0.key.name) < ($0.value, $1.key.name) }
        let list = sorted.map { "\($0.key.name) \($0.value)" }.joined(separator: ", ")
        return "\(messages - failed) of \(CountText.of(messages, "message")) mapped: \(outcome); \(failed) rejected"
            + (list.isEmpty ? "" : " (\(list))")
    }

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
        if !preview.isWhole, complaint == nil { complaint = problem(preview, in: message.file) }
        return preview
    }

    /// What was rejected first, and what to do.
    private func problem(_ preview: PayloadPreview, in file: String) -> String {
        let name = file == "-" ? "standard input" : file
        guard let first = preview.rejected.first else {
            return "\(name) is empty, or holds no reading: give one payload"
        }
        let detail = first.detail.isEmpty ? "" : " (\(first.detail))"
        let more = explanation == nil ? "; --explain shows what each template makes of it" : ""
        return "\(name): rejected as \(first.reason.name)\(detail): \(first.reason.explanation)\(more)"
    }

    private func mapped(_ message: InputMessage) throws(MessageInputError) -> PayloadPreview {
        let payload = try MessageFiles.payload(of: message)
        let received = WallClock.now()
        var preview = PayloadPreview(
            payload: payload, set: set, templates: templates, context: context, received: received,
            options: options, patients: patients, rules: rules, resources: resources)
        if let explanation, explanation.isJSON {
            preview.explanation = explanation.explain(payload, received: received)
        } else {
            explanation?.write(payload, received: received)
            explanation?.write(preview.rulings)
            explanation?.write(preview.withheld)
        }
        return preview
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
