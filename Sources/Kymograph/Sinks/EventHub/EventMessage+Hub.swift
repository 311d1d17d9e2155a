import KymographCore

/// An event in a request to a hub.
extension EventMessage {
    /// Most characters of a partition key (Azure Event Hubs quotas).
    private static let longestKey = 128

    /// Its key, or of one that is too long the digest.
    var partitionKey: IdentifierText {
        guard key.utf8.count > EventMessage.longestKey else { return key }
        return IdentifierText(Array(key.utf8).withByteView { EventMessage.digest(of: $0) })
    }

    /// Bytes that it adds to a request, at most: quotes and control characters are longer there.
    var size: Int {
        HubRequest.eventFrame + 2 * partitionKey.utf8.count + type.utf8.count + name.utf8.count
            + body.reduce(0) { $0 + ($1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "\\") ? 2 : $1 < 0x20 ? 6 : 1) }
    }

    /// Appends its element of a batch (Azure, "Send batch events"): `{"Body":"…","UserProperties":{…}}`, with the
    /// partition key if `hasKey`, since headers are not looked at in a batch.
    func append(hasKey: Bool, to writer: inout ByteWriter) {
        writer.append("{\"Body\":\"")
        writer.appendJSON(body)
        writer.append("\"")
        if hasKey {
            writer.append(",\"BrokerProperties\":{\"PartitionKey\":\"")
            writer.appendJSON(Array(partitionKey.utf8))
            writer.append("\"}")
        }
        writer.append(",\"UserProperties\":{\"id\":\"")
        writer.append(Array(id.utf8))
        writer.append(isReading ? "\",\"type\":\"" : "\",\"resource\":\"")
        writer.appendJSON(isReading ? type : name)
        writer.append("\"}}")
    }
}
