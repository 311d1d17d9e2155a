@testable import Kymograph
import KymographTestKit
import Testing
import TrialSupport

/// Which sequence numbers of a key are new.
@Suite struct SequenceWindowTests {
    private typealias Verdict = SequenceWindow.Verdict

    /// The window by its definition.
    private struct Model {
        var taken: Set<UInt64> = []
        var highest: UInt64?

        mutating func take(_ number: UInt64) -> Verdict {
            if let highest, number <= highest {
                if highest - number >= 1_024 { return .stale }
                if taken.contains(number) { return .repeated }
            }
            taken.insert(number)
            highest = max(highest ?? 0, number)
            return .new
        }
    }

    /// Numbers in any order, with gaps, repeated and from long ago, from any first one, up to the last there is.
    @Test(arguments: Trials.seeds(tenthOf: 100)) func asTheModelSays(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let starts: [UInt64] = [0, 1, 1 << 32, .max - 5_000, .max - 1, .random(in: 0 ... .max, using: &generator)]
        for start in starts {
            var (window, model, next) = (SequenceWindow(), Model(), start)
            for step in 0..<4_000 {
                let room = UInt64.max - next
                let number: UInt64
                switch Int.random(in: 0..<20, using: &generator) {
                case 0: number = .random(in: 0...next, using: &generator)
                case 1..<6: number = next - min(next, .random(in: 0..<1_100, using: &generator))
                case 6: number = next + min(room, .random(in: 0..<3_000, using: &generator))
                case 7 where step % 16 == 0: number = next + min(room, .random(in: 0..<1 << 40, using: &generator))
                default: number = next
                }
                let expected = model.take(number)
                let looked = window.verdict(number)
                #expect(looked == expected && window.take(number) == expected, "seed \(seed), \(start), \(number)")
                next = max(next, number < .max ? number + 1 : number)
                if step % 97 == 0, let highest = window.highest {
                    #expect(SequenceWindow(highest: highest, bytes: window.bytes) == window)
                }
            }
            #expect(window.highest == model.highest)
        }
    }

    /// The last of all numbers is one like the others.
    @Test func theEndOfNumbers() {
        var window = SequenceWindow()
        #expect(window.take(.max) == .new)
        #expect(window.take(.max) == .repeated)
        #expect(window.take(.max - 1_023) == .new)
        #expect(window.take(.max - 1_023) == .repeated)
        #expect(window.take(.max - 1_024) == .stale)
        #expect(window.take(0) == .stale)
    }

    /// 1,024 numbers are known, those that did not come among them, after a leap as long as the window, too.
    @Test func theEdgeOfTheWindow() {
        var window = SequenceWindow()
        #expect(window.take(0) == .new && window.take(1_023) == .new)
        #expect(window.take(0) == .repeated && window.take(1) == .new)
        #expect(window.take(1_024) == .new && window.take(0) == .stale && window.take(1) == .repeated)
        #expect(window.take(2_047) == .new)
        #expect(window.take(1_023) == .stale && window.take(1_024) == .repeated && window.take(1_025) == .new)
        #expect(window.take(10_000) == .new && window.take(2_047) == .stale)
        for number: UInt64 in 8_977..<10_000 { #expect(window.take(number) == .new, "\(number)") }
    }

    @Test func damagedBytesAreNone() {
        #expect(SequenceWindow(highest: 1, bytes: [UInt8](repeating: 0, count: 127)) == nil)
        #expect(SequenceWindow(highest: 1, bytes: []) == nil)
    }

    /// A page is shared by those who have the key, and what has changed is told once.
    @Test func changesOfPages() {
        let book = SequenceBook()
        let (one, other) = (KeyPrint([1]), KeyPrint([2]))
        #expect(book.page(of: one).take(5) == .new)
        #expect(book.page(of: one).take(5) == .repeated)
        #expect(book.page(of: other).take(5) == .new)
        let first = book.takeChanges()
        #expect(Set(first.keys) == [one, other] && first[one]?.highest == 5)
        #expect(book.takeChanges().isEmpty)
        #expect(book.page(of: one).take(5) == .repeated)
        #expect(book.takeChanges().isEmpty)
        #expect(book.page(of: one).take(6) == .new)
        let later = book.takeChanges()
        #expect(Set(later.keys) == [one])
        // As after a restart.
        let again = SequenceBook()
        again.restore(first.merging(later) { $1 })
        #expect(again.page(of: one).take(6) == .repeated && again.page(of: one).take(4) == .new)
        #expect(again.page(of: other).take(6) == .new)
    }

    /// Threads that take the same numbers: each number is new to one of them alone.
    @Test func numbersAreTakenOnce() {
        let page = SequenceBook().page(of: KeyPrint([3]))
        let threads = (0..<4).map { _ in
            TestThread { (0..<20_000 as Range<UInt64>).count { page.take($0) == .new } }
        }
        #expect(threads.map { $0.join() }.reduce(0, +) <= 20_000)
        #expect(page.take(19_999) == .repeated)
    }
}
