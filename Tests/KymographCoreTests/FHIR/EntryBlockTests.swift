import KymographTestKit
import Testing
import TrialSupport

@testable import KymographCore

/// Blocks of any entries, whole and damaged.
@Suite struct EntryBlockTests {
    private struct Draws {
        var generator: SeededGenerator

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

        mutating func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
            (0..<number(range)).map { _ in UInt8.random(in: 0x20...0x7E, using: &generator) }
        }

        mutating func form() -> BundleForm {
            var form = BundleForm()
            form.format = ObservationOptions.Format.allCases[number(0...1)]
            if form.format == .bundle { form.type = ObservationOptions.BundleType.allCases[number(0...2)] }
            form.write = ObservationOptions.Write.allCases[number(0...2)]
            form.hasReferenceType = number(0...1) == 0
            return form
        }

        /// An entry; `known` are the kinds of those before it.
        mutating func draft(_ known: [EntryKind]) -> EntryDraft {
            var draft = EntryDraft(EntryKind.allCases[number(0...EntryKind.allCases.count - 1)])
            draft.body = bytes(0...300)
            draft.type = bytes(0...20)
            draft.id = bytes(0...64)
            draft.fullURL = bytes(0...45)
            (draft.system, draft.value, draft.whole) = (bytes(0...30), bytes(0...200), bytes(0...9))
            if number(0...2) == 0 { draft.encounter = (bytes(0...20), bytes(1...20)) }
            (draft.isUnwritten, draft.isInPanel) = (number(0...9) == 0, number(0...9) == 0)
            draft.isStandIn = number(0...9) == 0
            draft.idPlace = number(0...draft.body.count)
            var place = draft.idPlace
            for _ in 0..<number(0...4) {
                place = number(place...draft.body.count)
                guard let (role, target) = reference(known, draft) else { continue }
                draft.references.append(EntryReference(place: place, role: role, target: target))
            }
            return draft
        }

        private mutating func reference(_ known: [EntryKind], _ draft: EntryDraft) -> (EntryReference.Role, Int)? {
            guard !known.isEmpty, number(0...3) > 0 else { return draft.encounter == nil ? nil : (.encounter, 0) }
            let target = number(0...known.count - 1)
            switch known[target] {
            case .patient: return (.patient, target)
            case .device, .describedDevice: return (.device, target)
            case .gateway: return (.gateway, target)
            case .observation: return (.member, target)
            case .resource, .event: return nil
            }
        }
    }

    private func drafts(_ draws: inout Draws) -> [EntryDraft] {
        var drafts: [EntryDraft] = []
        for _ in 0..<draws.number(0...12) { drafts.append(draws.draft(drafts.map(\.kind))) }
        return drafts
    }

    @Test func whatIsWrittenIsRead() {
        for seed in Trials.seeds(400) {
            var draws = Draws(seed: seed)
            let (form, drafts) = (draws.form(), drafts(&draws))
            var index = EntryIndex()
            let block = EntryDraft.block(of: drafts, form: form)
            block.withByteView { bytes in
                guard let read = index.read(bytes) else {
                    Issue.record("seed \(seed) gives no block")
                    return
                }
                #expect(read.form == form && read.count == drafts.count)
                for (number, draft) in drafts.enumerated() { check(read[number], draft, "seed \(seed)") }
            }
        }
    }

    private func check(_ entry: Entry, _ draft: EntryDraft, _ comment: Comment) {
        #expect(entry.kind == draft.kind && entry.isUnwritten == draft.isUnwritten, comment)
        #expect(entry.isStandIn == draft.isStandIn, comment)
        #expect(entry.body.equals(draft.body) && entry.type.equals(draft.type) && entry.id.equals(draft.id), comment)
        #expect(entry.fullURL.equals(draft.fullURL) && entry.system.equals(draft.system), comment)
        #expect(entry.value.equals(draft.value) && entry.whole.equals(draft.whole), comment)
        #expect(entry.encounter.map { $0.value.array } == draft.encounter.map { $0.value }, comment)
        #expect(entry.encounter.map { $0.system.array } == draft.encounter.map { $0.system }, comment)
        #expect(entry.idPlace == draft.idPlace && entry.referenceCount == draft.references.count, comment)
        for (index, reference) in draft.references.enumerated() {
            let found = entry.reference(index)
            #expect(found.place == reference.place && found.role == reference.role, comment)
            #expect(reference.role == .encounter || found.target == reference.target, comment)
        }
    }

    /// A block that is cut is none, wherever it is cut; so is one that has more behind it.
    @Test func cutBlocksAreRefused() {
        for seed in Trials.seeds(20) {
            var draws = Draws(seed: seed)
            let form = draws.form()
            let block = EntryDraft.block(of: drafts(&draws), form: form)
            var index = EntryIndex()
            for length in 0..<block.count {
                let isRead = Array(block[..<length]).withByteView { index.read($0) != nil }
                #expect(!isRead, "seed \(seed), \(length) of \(block.count)")
            }
            let isRead = (block + [0]).withByteView { index.read($0) != nil }
            #expect(!isRead, "seed \(seed)")
        }
    }

    /// Whatever bits are turned, reading ends, and what is taken for whole can be put together and taken apart.
    @Test func damagedBlocksDoNoHarm() {
        var refused = 0
        for seed in Trials.seeds(3_000) {
            var draws = Draws(seed: seed)
            let form = draws.form()
            var block = EntryDraft.block(of: drafts(&draws), form: form)
            for _ in 0..<draws.number(1...6) {
                block[draws.number(0...block.count - 1)] ^= 1 << UInt8(draws.number(0...7))
            }
            var assembler = BundleAssembler()
            var index = EntryIndex()
            block.withByteView { bytes in
                guard let read = index.read(bytes) else {
                    refused += 1
                    return
                }
                #expect(assembler.text(of: bytes) != nil, "seed \(seed)")
                for number in 0..<read.count {
                    let excerpt = read.excerpt(number)
                    #expect(excerpt.withByteView { assembler.text(of: $0) != nil }, "seed \(seed)")
                }
            }
        }
        #expect(refused > 500)
    }

    /// Lengths and counts as large as can be written.
    @Test(arguments: [8, 12, 16, 20, 24, 28, 52, 56, 60, 64, 68]) func hugeNumbersAreRefused(place: Int) {
        var entry = EntryDraft(.observation)
        entry.body = Array("{}".utf8)
        var block = EntryDraft.block(of: [entry], form: BundleForm())
        for value in [[UInt8](repeating: 0xFF, count: 4), [0xFF, 0xFF, 0xFF, 0x7F], [0, 0, 0, 0x80]] {
            let good = Array(block[place..<place + 4])
            block.replaceSubrange(place..<place + 4, with: value)
            var index = EntryIndex()
            let isRead = block.withByteView { index.read($0) != nil }
            // All ones stand for no Patient, Device or gateway.
            #expect(!isRead || (place >= 60 && value == [UInt8](repeating: 0xFF, count: 4)), "\(place) \(value)")
            block.replaceSubrange(place..<place + 4, with: good)
        }
    }
}
