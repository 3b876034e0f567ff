DEFAULTS = {
    "server": {"host": "localhost", "port": 8080, "tls": {"enabled": False, "ciphers": ["A", "B"]}},
    "log": {"level": "info", "outputs": ["stderr"]},
    "plugins": {},
}
