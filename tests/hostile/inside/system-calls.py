"""Makes each system call of $CALLS in a separate process, and prints the result. Text arguments are passed as C strings."""
import ctypes, json, os, signal, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def argument(value):
    if isinstance(value, str) and value.startswith("fd:"):
        return ctypes.c_long(os.open(value[3:], os.O_RDONLY))
    return ctypes.c_char_p(value.encode()) if isinstance(value, str) else ctypes.c_long(value)


def call(number, args):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[argument(value) for value in args])
    return {"result": result, "errno": ctypes.get_errno()}


def apart(number, args):
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        found = call(number, args)
        # After a clone both processes run this. One answer is enough.
        if os.getpid() != parent:
            os.write(writer, json.dumps(found).encode())
        os._exit(0)
    os.close(writer)
    text = os.read(reader, 4096)
    os.close(reader)
    status = os.waitpid(pid, 0)[1]
    return json.loads(text) if text else {"signal": os.WTERMSIG(status)}


print(json.dumps({name: apart(number, args) for name, number, *args in json.loads(os.environ["CALLS"])}))
