import Kymograph
import KymographCore
import KymographTestKit

/// Replays letters by the instance that uses their directory; for a command beside it, and for its console.
struct RunningReplay: Sendable {
    let directory: String
    /// Takes what the operator should know besides.
    let notes: LogTaker
    /// Seconds after which a socket that takes nothing is given up; nil waits for ever.
    var patience: Int?

    /// Replays `replay` as far as that can be done while the instance runs; gives the sources that took nothing.
    @discardableResult
    func run(_ replay: inout LetterBatch) -> Set<String> {
        replay.refuse(
            replay.payloads.filter(\.needsPeers).map {
                LetterRefusal(
                    $0.number,
                    "a list of peers says what its sender may bring: stop the instance, and replay then")
            })
        replay.refuseReadings()
        let stuck = send(&replay)
        note(&replay)
        return stuck
    }

    /// Notes which payloads were replayed, and has entries sent.
    func note(_ replay: inout LetterBatch) {
        if !replay.payloads.isEmpty { replay.refuse(change(.noteReplayed, replay.payloads)) }
        if !replay.entries.isEmpty { replay.refuse(change(.deliver, replay.entries)) }
    }

    private func change(_ command: ControlRequest.Command, _ letters: [StoredLetter]) -> [LetterRefusal] {
        let request = ControlRequest(command, letters: letters.map(\.number))
        do throws(PipelineError) {
            return try DeadLetterChange.make(request, directory, notes: notes)
        } catch {
            // The others may have been sent by now.
            return letters.map { LetterRefusal($0.number, error.message) }
        }
    }

    /// What goes to one socket.
    private struct Parcel {
        var destination: ReadingDestination
        var letters: [StoredLetter]

        func send(patience: Int?) throws {
            var sender = try ReadingSender(to: destination, patience: patience)
            for letter in letters {
                try RunningReplay.message(letter, to: destination)?.withByteView { try sender.send(exactly: $0) }
            }
            try sender.flush()
        }
    }

    /// To the sockets that the letters came from, if these take lines or datagrams. The instance is told before what
    /// comes a second time, and says what it would reject again.
    private func send(_ replay: inout LetterBatch) -> Set<String> {
        guard !replay.payloads.isEmpty else { return [] }
        let sources = ControlClient.ask(ControlRequest(.status), directory)?.status?.sources
        if let sources { replay.refuse(replay.payloads.compactMap { stray($0, among: sources.map(\.name)) }) }
        replay.refuse(replay.payloads.compactMap { obstacle($0, among: sources ?? []) })
        guard !replay.payloads.isEmpty else { return [] }
        replay.refuse(change(.expect, replay.payloads))
        let bySource = Dictionary(grouping: replay.payloads) { IdentifierText($0.source) }
        let parcels = bySource.sorted { $0.key < $1.key }.compactMap { _, letters in
            destination(of: letters[0], among: sources ?? []).map { Parcel(destination: $0, letters: letters) }
        }
        var stuck: Set<String> = []
        for parcel in parcels {
            do {
                try parcel.send(patience: patience)
            } catch {
                replay.refuse(parcel.letters.map { LetterRefusal($0.number, "\(error)") })
                stuck.formUnion(parcel.letters.map(\.source))
            }
        }
        return stuck
    }

    /// The refusal of a letter whose source is none of the instance's, which are called `names`: another one may have
    /// its address by now.
    private func stray(_ letter: StoredLetter, among names: [String]) -> LetterRefusal? {
        guard !names.contains(where: { $0.utf8.elementsEqual(letter.source.utf8) }) else { return nil }
        return LetterRefusal(letter.number, StoredLetter.strayText(letter.source))
    }

    /// Why a letter cannot be sent to a running instance of `sources`.
    private func obstacle(_ letter: StoredLetter, among sources: [InstanceStatus.Source]) -> LetterRefusal? {
        let isFramed = sources.contains { $0.name == letter.source && $0.framing != nil }
        guard !isFramed, let destination = destination(of: letter, among: sources) else {
            return LetterRefusal(
                letter.number,
                "letters from \(letter.source) cannot be sent to the running instance: stop it, and replay then")
        }
        guard Self.message(letter, to: destination) == nil else { return nil }
        return LetterRefusal(
            letter.number,
            "it cannot be sent as a line to \(letter.source): its bytes would change; stop the instance, and replay "
                + "then")
    }

    /// Datagrams are sent as they came. What comes by a stream must be a line there; nil when it cannot be.
    private static func message(_ letter: StoredLetter, to destination: ReadingDestination) -> [UInt8]? {
        let bytes = letter.bytes ?? []
        switch destination {
        case .unixStream, .tcp: return LetterLine.line(bytes)
        case .udp, .unixDatagram, .unixSeqpacket, .standardOutput: return bytes
        }
    }

    /// Where the source of `letter` listens: the instance says so of one with a name of its own.
    private func destination(
        of letter: StoredLetter, among sources: [InstanceStatus.Source]
    ) -> ReadingDestination? {
        let stated = sources.first { $0.name.utf8.elementsEqual(letter.source.utf8) }?.address
        let address = IngestKinds.builtIn.address(named: stated ?? letter.source)
        return switch (address as? any RoutedSource)?.route {
        case .udp(let address): .udp(host: address.host, port: address.port)
        case .tcp(let address): .tcp(host: address.host, port: address.port)
        case .unixStream(let path): .unixStream(path: path)
        case .unixDatagram(let path): .unixDatagram(path: path)
        case .unixSeqpacket(let path): .unixSeqpacket(path: path)
        case nil: nil
        }
    }
}
