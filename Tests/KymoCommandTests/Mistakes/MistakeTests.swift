import CommandSupport
import Testing

/// What hospital engineers, migrants, researchers and operators do wrong, and what they are told: the exit status, and a
/// message with the cause, the place and the remedy.
@Suite struct MistakeTests {
    static let all: [Mistake] =
        Mistake.commandLines + Mistake.values + Mistake.configurations + Mistake.layouts + Mistake.devices
        + Mistake.fhirs + Mistake.mappings + Mistake.inputs + Mistake.stores + Mistake.sockets + Mistake.outputs
        + Mistake.servers

    @Test(arguments: all)
    func isAnswered(mistake: Mistake) throws {
        let done = try MistakeRun(mistake).finish()
        #expect(done.end == .exit(mistake.status), "\(done.text)")
        // Help may be broken into lines.
        let text = done.text.replacing("\n", with: " ")
        for part in [mistake.cause, mistake.place, mistake.remedy] {
            #expect(!part.isEmpty && text.contains(part), "'\(part)' is missing: \(done.text)")
        }
        // Who feeds a run from a shell is shown what was refused first.
        let isShown = mistake.arguments.starts(with: ["run", "--stdin"]) && text.contains("nothing was accepted")
        #expect(isShown || !text.contains(MistakeRun.device), "it names a device: \(done.text)")
        #expect(!text.contains(MistakeRun.patient), "it names a patient or an encounter: \(done.text)")
    }

    /// There are as many as were found, and no two rows are one mistake: neither the input nor the answer is the same.
    @Test func noTwoAreTheSame() {
        #expect(Self.all.count >= 180)
        #expect(Set(Self.all.map(\.title)).count == Self.all.count)
        let inputs = Self.all.map { mistake in
            "\(mistake.arguments) \(mistake.files.sorted { $0.key < $1.key }) \(mistake.locked) \(mistake.shared) "
                + "\(mistake.environment) \(mistake.input) \(mistake.needs)"
        }
        #expect(Set(inputs).count == Self.all.count)
        let answers = Dictionary(grouping: Self.all) { "\($0.status) \($0.cause) \($0.place) \($0.remedy)" }
        for (answer, mistakes) in answers where mistakes.count > 1 {
            Issue.record("\(mistakes.map(\.title)) have one answer: \(answer)")
        }
    }
}
