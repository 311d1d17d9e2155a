import KymographCore
import KymographTemplates

/// Finds out what a server has of an entry that it says it has stored.
///
/// A server that is asked to create what it has already keeps that, and says so: it may be of an earlier version, or
/// what was sent, by a bundle whose answer was lost.
struct ContentConfirmation {
    let settings: DeliverySettings
    let channel: ServerChannel
    let rows: OutboxConsumer

    /// Notes that the server has stored `entry`, after it was asked for what it has if its answer leaves that open.
    func finish(_ entry: DeliveryEntry, _ answer: EntryAnswer) {
        isCertain(entry, answer) ? rows.finish(entry, answer) : compare(entry, answer)
    }

    /// Whether the server, which has answered so, has the content of `entry` for certain. What describes a Device is
    /// there for others to refer to: whoever created it says what it is.
    func isCertain(_ entry: DeliveryEntry, _ answer: EntryAnswer) -> Bool {
        !entry.isCreated || entry.described != nil || answer.status == 201
    }

    /// Asks for what the server has under the identifier of `entry`, and notes whether that is the entry's content.
    private func compare(_ entry: DeliveryEntry, _ answer: EntryAnswer) {
        var body = ByteWriter(capacity: 1_024)
        EntryAssembly(version: settings.version).writeResource(entry, into: &body)
        // To be compared with what the server says, whose members may be in another order.
        guard let sent = JSONNode.answer(body.view.array) else {
            return rows.finish(entry, answer, isLacking: true)
        }
        ChannelServer(channel, settings).search(entry.identifier) { [rows] result in
            let found = (try? result.get()) ?? []
            rows.finish(entry, answer, isLacking: !found.contains { ServerContent($0) == ServerContent(sent) })
        }
    }
}
