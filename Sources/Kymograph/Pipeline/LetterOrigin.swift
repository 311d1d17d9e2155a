import KymographCore

extension PipelineSettings {
    /// The source that is certainly the one that `letter` came from, by what the letter has of it: its name, which is
    /// the address of a source that states none. Who has that address by now, and another name, is another source.
    package func origin(of letter: StoredLetter) -> Source? {
        let named = listeningSources.filter { $0.isNamed(letter.source) }
        return named.count == 1 ? named[0] : nil
    }

    /// Whether no source, or more than one, is called `name`, where sources are named: these have mappings, peers and
    /// limits of their own. Without any, all that comes is taken alike. Standard input has no address that could be
    /// another's: who gives it says what it is.
    package func isStray(_ name: String) -> Bool {
        guard sources.contains(where: { $0.origins[$0.configuration.address.kind.key] != nil }),
            !name.utf8.elementsEqual(StandardInputSource().name.utf8)
        else { return false }
        return listeningSources.count { $0.isNamed(name) } != 1
    }

    /// `letter` with the bytes that come where it is sent to its source: streams get it as a line. A letter that no
    /// line says is not sent there, and stays as it is.
    func sent(_ letter: StoredLetter) -> StoredLetter {
        var sent = letter
        switch (origin(of: letter)?.configuration.address as? any RoutedSource)?.route {
        case .tcp, .unixStream: sent.bytes = letter.bytes.flatMap(LetterLine.payload) ?? letter.bytes
        case .udp, .unixDatagram, .unixSeqpacket, nil: break
        }
        return sent
    }

    /// Why the bytes of `letter`, sent to where its name says, could come to another source than its own; nil when they
    /// cannot. Whose readings are is a matter of the source: its mappings, peers, tags and patients.
    package func misdirection(of letter: StoredLetter) -> String? {
        guard let origin = origin(of: letter) else { return StoredLetter.strayText(letter.source) }
        let own = (origin.configuration.address as? any RoutedSource)?.route
        let named = (kinds.address(named: letter.source) as? any RoutedSource)?.route
        if let named, named != own {
            return "\(letter.source) is the name of a source that listens elsewhere by now: stop the instance, and "
                + "replay then"
        }
        guard let own else { return nil }
        let other = listeningSources.first { other in
            let route = (other.configuration.address as? any RoutedSource)?.route
            return !other.isNamed(letter.source) && route.map(own.isNearer) ?? false
        }
        return other.map {
            "\($0.name) has the port of \(letter.source), too, and might get it: stop the instance, and replay then"
        }
    }
}

extension StoredLetter {
    /// Why a letter of `source` is left, where no source is called that.
    package static func strayText(_ source: String) -> String {
        "it came from \(source), and no source is called that here; one that has its address by now may be another's: "
            + "give the source that it belongs to this name in the configuration, and replay then"
    }
}

extension SourceRoute {
    /// Whether what is sent to this address may come to `other`, which is more particular.
    fileprivate func isNearer(_ other: SourceRoute) -> Bool {
        switch (self, other) {
        case (.udp(let own), .udp(let other)), (.tcp(let own), .tcp(let other)):
            own.port == other.port && ["0.0.0.0", "::", ""].contains(own.host)
        case (.unixStream(let own), .unixStream(let other)), (.unixSeqpacket(let own), .unixSeqpacket(let other)),
            (.unixDatagram(let own), .unixDatagram(let other)):
            own == other
        case (.udp, _), (.tcp, _), (.unixStream, _), (.unixSeqpacket, _), (.unixDatagram, _): false
        }
    }
}

extension PipelineSettings.Source {
    /// What dead letters keep of what it says of its payloads.
    var letterContext: LetterContext {
        LetterContext(
            device: Array((defaultDevice ?? "").utf8), patient: Array((defaultPatient ?? "").utf8),
            timezone: timezone?.name)
    }
}
