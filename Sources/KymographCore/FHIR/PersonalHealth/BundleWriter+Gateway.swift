/// The gateway as a resource of bundles.
extension BundleWriter {
    /// Writes the entry of the gateway's Device unless the bundle has it; gives the digest that its UUID is made of.
    @inline(never)
    mutating func requireGateway() -> Digest256.Bytes {
        let gateway = encoder.systems.gateway
        setKey("Device", gateway)
        if let digest = resources.find(scratch.view) { return digest }
        let isReferred = encoder.options.refersToEntries
        let digest = isReferred ? encoder.digest.of(scratch.view) : Digest256.Bytes(repeating: 0)
        _ = resources.add(scratch.view, digest: digest)
        openEntry()
        output.append("{")
        if isReferred { writeFullURL(digest) }
        output.append("\"resource\":{\"resourceType\":\"Device\",\"identifier\":[")
        output.append(gateway)
        output.append("],\"type\":{\"coding\":[{\"system\":\"urn:iso:std:iso:11073:10101\",\"code\":\"531981\",")
        output.append("\"display\":\"MDC_MOC_VMS_MDS_AHD\"}]}}")
        if encoder.options.bundleType != .collection { writeRequest("Device", gateway) }
        output.append("}")
        return digest
    }
}
