@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// The names of the types whose readings entries show.
@Suite struct ReadingTypesTests {
    /// Entries of any types in any order: each name is told once, as it was before it became a part of an identity.
    @Test func anyOrder() {
        let names = ["a", "b", "c.d", "%", "%2E", "heart-rate", "x%25.y", "z"]
        for seed in Trials.seeds(100) {
            var generator = SeededGenerator(seed: seed)
            let chosen = (0..<Int.random(in: 1...60, using: &generator)).compactMap { _ in
                names.randomElement(using: &generator)
            }
            var types = ReadingTypes()
            var index = EntryIndex()
            EntryDraft.block(of: chosen.map(draft), form: BundleForm()).withByteView { types.note($0, &index) }
            #expect(types.take() == Set(chosen), "seed \(seed)")
            #expect(types.take().isEmpty)
        }
    }

    private func draft(_ name: String) -> EntryDraft {
        var draft = EntryDraft(.observation)
        let part = name.replacing("%", with: "%25").replacing(".", with: "%2E")
        (draft.type, draft.value) = (Array("Observation".utf8), Array("d.p.\(part).123".utf8))
        return draft
    }

    /// Resources of nobody's readings have none.
    @Test func others() {
        var types = ReadingTypes()
        var index = EntryIndex()
        var patient = EntryDraft(.patient)
        patient.value = Array("a.b.c.d".utf8)
        EntryDraft.block(of: [patient], form: BundleForm()).withByteView { types.note($0, &index) }
        #expect(types.take().isEmpty)
    }
}
